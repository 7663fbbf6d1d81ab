import { describe, expect, it } from 'vitest'
import { AGREE_ON_VERSION_VECTORS, AGREE_VECTORS } from '../../../protocol/test-vectors/call/agree.js'
import { IDEMPOTENCY_KEY_VECTORS, PREFER_VECTORS } from '../../../protocol/test-vectors/call/headers.js'
import { JSON_BODY_VECTORS } from '../../../protocol/test-vectors/call/json-body.js'
import { MATCH_OPERATION_VECTORS } from '../../../protocol/test-vectors/call/match-operation.js'
import { ACCEPT_VECTORS, JSON_TYPE_VECTORS } from '../../../protocol/test-vectors/call/media-types.js'
import { NOT_REQUEST_IDS, REQUEST_IDS } from '../../../protocol/test-vectors/call/request-id.js'
import { RESERVED_MEMBERS_VECTORS } from '../../../protocol/test-vectors/call/reserved-members.js'
import { RETRY_AFTER_VECTORS } from '../../../protocol/test-vectors/call/retry-after.js'
import type { TestResponse } from '../support/directory.js'
import { setUp } from './setup.js'

const setup = setUp()
const { register, call } = setup
/** An agent with one operation, which takes anything. */
const OPEN = { operations: [{ name: 'go', inputs: {}, outputs: {} }] }

let agents = 0
/** Calls an agent that was not called before, because the failures of one agent open its circuit breaker. */
const callAnother = async (): Promise<TestResponse> => {
  const id = `agent-${++agents}`
  await register({ ...OPEN, id, endpoint: new URL(`/${id}`, setup.agent.url).href })
  return call({}, { path: `/agents/${id}/invoke` })
}

describe('reserved members of an input', () => {
  it.each(RESERVED_MEMBERS_VECTORS)('C-59 C-63 $title', async ({ inputs, input, reserved, rest }) => {
    await register({ operations: [{ name: 'go', inputs, outputs: {} }] })
    const answer = await call(input)
    expect(answer.status, answer.text).toBe(200)
    const [received] = setup.agent.calls
    expect(received?.json).toEqual(rest)
    expect(received?.headers['x-session-id']).toBe(reserved.sessionId)
    expect(received?.headers['x-task-id']).toBe(reserved.taskId)
    expect(received?.headers.accept?.includes('text/event-stream')).toBe(reserved.stream ?? false)
  })
})

describe('the operation of a call', () => {
  it.each(MATCH_OPERATION_VECTORS)('C-58 $title', async ({ operations, inUrl, input, match }) => {
    // Each operation has its own endpoint, so that the path shows which one was called.
    const endpoint = (name: string): string => new URL(`/own/${name}`, setup.agent.url).href
    await register({
      operations: operations.map((operation) => ({ ...operation, outputs: {}, endpoint: endpoint(operation.name) })),
    })
    const answer = await call(input, { path: `/agents/x/${inUrl ?? 'invoke'}` })
    const isUnknownUrl = match.kind === 'unknown' && match.place === 'url'
    expect(answer.status, answer.text).toBe(match.kind === 'match' ? 200 : isUnknownUrl ? 404 : 400)
    const called = match.kind === 'match' ? [[`/own/${match.operation}`, match.input]] : []
    expect(setup.agent.calls.map(({ path, json }) => [path, json])).toEqual(called)
  })
})

describe('an identifier sent in several places', () => {
  it.each(AGREE_VECTORS)('C-63 $title', async ({ header, query, body, value, refusal }) => {
    await register(OPEN)
    const parameters = query === undefined ? '' : `?${new URLSearchParams({ sessionId: query })}`
    const answer = await call(body === undefined ? {} : { sessionId: body }, {
      path: `/agents/x/invoke${parameters}`,
      ...(header !== undefined && { headers: { 'x-session-id': header } }),
    })
    if (refusal === undefined) expect(setup.agent.calls[0]?.headers['x-session-id']).toBe(value)
    else expect([answer.status, answer.json.detail]).toEqual([400, expect.stringContaining(`sessionId ${refusal}`)])
  })

  it.each(AGREE_ON_VERSION_VECTORS)('C-63 versions $header and $query', async ({ header, query, version }) => {
    await register({ ...OPEN, version: '2.1.0', supportedVersions: { '2.0.0': '/v2.0/' } })
    const parameters = query === undefined ? '' : `?version=${encodeURIComponent(query)}`
    const headers = header === undefined ? {} : { 'x-agent-version': header }
    const answer = await call({}, { path: `/agents/x/invoke${parameters}`, headers })
    if (version === undefined) expect(answer.status).toBe(400)
    else expect([answer.status, answer.headers.get('x-agent-version')]).toEqual([200, '2.1.0'])
  })
})

describe('media types', () => {
  it.each(ACCEPT_VECTORS)('Accept: %s gives %s', async (accept, chosen) => {
    await register(OPEN)
    const headers = accept === undefined ? {} : { accept }
    const answer = await setup.directory.get('/agents/x/agent.json', { headers })
    expect(answer.status).toBe(chosen === undefined ? 406 : 200)
    if (chosen !== undefined) expect(answer.headers.get('content-type')).toBe(`${chosen}; charset=utf-8`)
  })

  it.each(JSON_TYPE_VECTORS)('Content-Type: %s is JSON: %s', async (contentType, isJson) => {
    await register(OPEN)
    const headers = { 'content-type': contentType }
    const answer = await call({ text: 'a' }, { headers })
    expect(answer.status, answer.text).toBe(isJson ? 200 : 415)
    const search = await setup.directory.post('/agents/search', { body: { query: 'x' }, headers })
    expect(search.status, search.text).toBe(isJson ? 200 : 415)
  })

  it.each(JSON_TYPE_VECTORS)('an agent that responds with %s responds with JSON: %s', async (contentType, isJson) => {
    await register({ operations: [{ name: 'go', inputs: {}, outputs: {}, outputFormats: ['*/*'] }] })
    setup.agent.reply = (_received, response) =>
      void response.writeHead(200, { 'content-type': contentType }).end('{"text":"a"}')
    const answer = await call({})
    const type = isJson ? 'application/json; charset=utf-8' : contentType
    expect([answer.headers.get('content-type'), answer.text]).toEqual([type, '{"text":"a"}'])
  })
})

describe('the body of a call', () => {
  it.each(JSON_BODY_VECTORS)('is read strictly: $title', async ({ bytes, value }) => {
    await register(OPEN)
    const answer = await call('', { raw: bytes, headers: { 'content-type': 'application/json' } })
    expect(answer.status, answer.text).toBe(value === undefined ? 400 : 200)
    expect(setup.agent.calls.map(({ json }) => json)).toEqual(value === undefined ? [] : [value])
  })

  it.each(JSON_BODY_VECTORS)('is read strictly from the agent too: $title', async ({ bytes, value }) => {
    setup.agent.reply = (_received, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(bytes)
    const answer = await callAnother()
    expect(answer.status, answer.text).toBe(value === undefined ? 502 : 200)
    if (value !== undefined) expect(answer.json).toEqual(value)
  })
})

describe('the id of a request', () => {
  const ask = (id: string): Promise<TestResponse> =>
    // Headers hold bytes, not characters.
    setup.directory.get('/agents/nothing', { headers: { 'x-request-id': Buffer.from(id).toString('latin1') } })

  it.each(REQUEST_IDS)('C-74 keeps %s', async (id) => {
    const { headers, json } = await ask(id)
    expect([headers.get('x-request-id'), json.correlation_id]).toEqual([id, id])
  })

  it.each(NOT_REQUEST_IDS)('C-74 replaces "%s"', async (id) => {
    const { headers, json } = await ask(id)
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(json.correlation_id).toBe(headers.get('x-request-id'))
  })
})

describe('Retry-After of an agent', () => {
  // The dates in the vectors are in the past; without a header, the directory’s default is 5 seconds.
  const isDate = (header: string): boolean => header.includes('GMT')

  it.each(RETRY_AFTER_VECTORS)('reads "%s"', async (header, seconds) => {
    setup.agent.reply = (_received, response) => void response.writeHead(503, { 'retry-after': header }).end()
    const answer = await callAnother()
    expect([answer.status, answer.json.retry_after]).toEqual([503, isDate(header) ? 0 : (seconds ?? 5)])
  })
})

describe('other headers of a call', () => {
  it.each(PREFER_VECTORS)('C-62 Prefer: %s: %s', async (prefer, isAsync) => {
    await register(OPEN)
    expect((await call({}, { headers: { prefer } })).status).toBe(isAsync ? 202 : 200)
  })

  it.each(IDEMPOTENCY_KEY_VECTORS)('C-61 Idempotency-Key: %s: %s', async (key, isValid) => {
    await register(OPEN)
    const answer = await call({}, { headers: { 'idempotency-key': key } })
    expect(answer.status, answer.text).toBe(isValid ? 200 : 400)
    expect(setup.agent.calls[0]?.headers['idempotency-key']).toBe(isValid ? key : undefined)
  })
})
