import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { AGREE_ON_VERSION_VECTORS, AGREE_VECTORS } from '../../protocol/test-vectors/call/agree.js'
import { IDEMPOTENCY_KEY_VECTORS, PREFER_VECTORS } from '../../protocol/test-vectors/call/headers.js'
import { JSON_BODY_VECTORS } from '../../protocol/test-vectors/call/json-body.js'
import { MATCH_OPERATION_VECTORS } from '../../protocol/test-vectors/call/match-operation.js'
import { ACCEPT_VECTORS, JSON_TYPE_VECTORS } from '../../protocol/test-vectors/call/media-types.js'
import { QUERY_INPUT_VECTORS, QUERY_INPUTS } from '../../protocol/test-vectors/call/query-input.js'
import { NOT_REQUEST_IDS, REQUEST_IDS } from '../../protocol/test-vectors/call/request-id.js'
import { RESERVED_MEMBERS_VECTORS } from '../../protocol/test-vectors/call/reserved-members.js'
import { closeAll, echo, type LooseCapability, post, send, startAgent, type TestResponse } from './support/agents.js'

afterEach(closeAll)

interface Seen {
  readonly capability: string
  readonly input: JsonValue
  readonly sessionId: string | undefined
  readonly taskId: string | undefined
}

/** A capability that records how it is called. */
const recorder = (name: string, input: JsonObject, seen: Seen[]): LooseCapability => ({
  name,
  input,
  handler(received: JsonValue, { session, taskId }) {
    seen.push({ capability: name, input: received, sessionId: session?.id, taskId })
    return {}
  },
})

describe('reserved members of an input', () => {
  it.each(RESERVED_MEMBERS_VECTORS)('C-59 C-63 $title', async ({ inputs, input, reserved, rest }) => {
    const seen: Seen[] = []
    const { url } = await startAgent({ capabilities: [recorder('go', inputs, seen)] })
    const response = await post(`${url}/go`, input)
    expect(response.status, response.text).toBe(200)
    const { sessionId, taskId } = reserved
    expect(seen).toEqual([{ capability: 'go', input: rest, sessionId, taskId }])
    expect(response.headers.get('content-type')).toBe(reserved.stream ? 'text/event-stream' : 'application/json')
  })
})

describe('the operation of a call', () => {
  const STATUS = { match: 200, missing: 400, conflict: 400, unknown: 404 }

  it.each(MATCH_OPERATION_VECTORS)('C-58 $title', async ({ operations, inUrl = '', input, match }) => {
    const seen: Seen[] = []
    const capabilities = operations.map(({ name, inputs }) => recorder(name, inputs, seen))
    const { url } = await startAgent({ capabilities })
    const response = await post(`${url}/${inUrl}`, input)
    expect(response.status, response.text).toBe(STATUS[match.kind])
    const called = match.kind === 'match' ? [{ capability: match.operation, input: match.input }] : []
    expect(seen).toMatchObject(called)
  })
})

describe('an identifier sent in several places', () => {
  it.each(AGREE_VECTORS)('C-63 $title', async ({ header, query, body, value, refusal }) => {
    const seen: Seen[] = []
    const { url } = await startAgent({ capabilities: [recorder('go', {}, seen)] })
    const parameters = query === undefined ? '' : `?${new URLSearchParams({ sessionId: query })}`
    const response = await post(
      `${url}/go${parameters}`,
      body === undefined ? {} : { sessionId: body },
      header === undefined ? {} : { 'x-session-id': header },
    )
    if (refusal === undefined) expect(seen).toMatchObject([{ input: {}, sessionId: value }])
    else expect([response.status, response.json.detail]).toEqual([400, expect.stringContaining(`sessionId ${refusal}`)])
  })

  it.each(AGREE_ON_VERSION_VECTORS)('C-63 versions $header and $query', async ({ header, query, version }) => {
    const { url } = await startAgent({ version: '2.1.0', olderVersions: { '2.0.0': [echo] } })
    const parameters = query === undefined ? '' : `?version=${encodeURIComponent(query)}`
    const response = await post(`${url}/echo${parameters}`, { text: 'a' }, header ? { 'x-agent-version': header } : {})
    if (version === undefined) expect(response.status).toBe(400)
    else expect([response.status, response.headers.get('x-agent-version')]).toEqual([200, '2.1.0'])
  })
})

describe('media types', () => {
  it.each(ACCEPT_VECTORS)('Accept: %s gives %s', async (accept, chosen) => {
    const { url } = await startAgent()
    const response = await send(`${url}/agent.json`, accept === undefined ? {} : { headers: { accept } })
    expect([response.status, chosen && response.headers.get('content-type')]).toEqual([chosen ? 200 : 406, chosen])
  })

  it.each(JSON_TYPE_VECTORS)('Content-Type: %s is JSON: %s', async (contentType, isJson) => {
    const { url } = await startAgent()
    const response = await post(`${url}/echo`, { text: 'a' }, { 'content-type': contentType })
    expect(response.status, response.text).toBe(isJson ? 200 : 415)
  })
})

describe('the body of a call', () => {
  it.each(JSON_BODY_VECTORS)('is read strictly: $title', async ({ bytes, value }) => {
    const seen: Seen[] = []
    const { url } = await startAgent({ capabilities: [recorder('go', {}, seen)] })
    const headers = { 'content-type': 'application/json' }
    const response = await send(`${url}/go`, { method: 'POST', headers, body: bytes })
    expect(response.status, response.text).toBe(value === undefined ? 400 : 200)
    expect(seen.map(({ input }) => input)).toEqual(value === undefined ? [] : [value])
  })
})

describe('the id of a request', () => {
  const requestWith = async (id: string): Promise<TestResponse> => {
    const { url } = await startAgent()
    // Headers hold bytes, not characters.
    return send(`${url}/nothing`, { headers: { 'x-request-id': Buffer.from(id).toString('latin1') } })
  }

  it.each(REQUEST_IDS)('C-74 keeps %s', async (id) => {
    const { headers, json } = await requestWith(id)
    expect([headers.get('x-request-id'), json.correlation_id]).toEqual([id, id])
  })

  it.each(NOT_REQUEST_IDS)('C-74 replaces "%s"', async (id) => {
    const { headers, json } = await requestWith(id)
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(json.correlation_id).toBe(headers.get('x-request-id'))
  })
})

describe('the input of a GET', () => {
  it.each(QUERY_INPUT_VECTORS)('reads ?%s', async (query, input) => {
    const seen: Seen[] = []
    const { url } = await startAgent({ capabilities: [{ ...recorder('look', QUERY_INPUTS, seen), safe: true }] })
    const response = await send(`${url}/look?${query}`)
    expect(response.status, response.text).toBe(200)
    expect(seen).toMatchObject([{ input }])
  })

  it('C-89 leaves out the parameters that control the call', async () => {
    const seen: Seen[] = []
    const { url } = await startAgent({ capabilities: [{ ...recorder('look', QUERY_INPUTS, seen), safe: true }] })
    await send(`${url}/look?text=a&version=2.1.0&sessionId=s1&taskId=t1`)
    expect(seen).toEqual([{ capability: 'look', input: { text: 'a' }, sessionId: 's1', taskId: 't1' }])
  })
})

describe('other headers of a call', () => {
  it.each(PREFER_VECTORS)('C-62 Prefer: %s: %s', async (prefer, isAsync) => {
    const { url } = await startAgent()
    const response = await post(`${url}/echo`, { text: 'a' }, { prefer })
    expect(response.status, response.text).toBe(isAsync ? 202 : 200)
    expect(response.headers.get('preference-applied')).toBe(isAsync ? 'respond-async' : null)
  })

  it.each(IDEMPOTENCY_KEY_VECTORS)('C-61 Idempotency-Key: %s: %s', async (key, isValid) => {
    const { url } = await startAgent()
    const call = () => post(`${url}/echo`, { text: 'a' }, { 'idempotency-key': key })
    expect((await call()).status).toBe(isValid ? 200 : 400)
    expect((await call()).headers.get('idempotent-replayed')).toBe(isValid ? 'true' : null)
  })
})
