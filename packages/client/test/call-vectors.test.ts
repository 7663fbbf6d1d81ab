import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import {
  ACCEPTED_TASK_VECTORS,
  OTHER_ORIGINS,
  POLLED_TASK_VECTORS,
} from '../../protocol/test-vectors/call/accepted-task.js'
import { AGREE_ON_VERSION_VECTORS, AGREE_VECTORS } from '../../protocol/test-vectors/call/agree.js'
import { IDEMPOTENCY_KEY_VECTORS } from '../../protocol/test-vectors/call/headers.js'
import { JSON_BODY_VECTORS } from '../../protocol/test-vectors/call/json-body.js'
import { JSON_TYPE_VECTORS } from '../../protocol/test-vectors/call/media-types.js'
import { QUERY_INPUT_VECTORS, QUERY_INPUTS } from '../../protocol/test-vectors/call/query-input.js'
import { NOT_REQUEST_IDS, REQUEST_IDS } from '../../protocol/test-vectors/call/request-id.js'
import { RESERVED_MEMBERS_VECTORS } from '../../protocol/test-vectors/call/reserved-members.js'
import { RETRY_AFTER_NOW, RETRY_AFTER_VECTORS } from '../../protocol/test-vectors/call/retry-after.js'
import { createClient, type InvokeOptions, invokeAgent, resolveAgent } from '../src/index.js'

const URI = 'agent://agent.example/go'
const retry = { retries: 0, now: () => RETRY_AFTER_NOW }

/** A host whose agent describes one capability, `go`, and responds to its calls; `requests` are those calls. */
function agentWith({ inputs = {}, respond = () => Response.json({}), more = {} }: AgentOptions = {}) {
  const requests: Request[] = []
  const descriptor = { name: 'a', version: '2.1.0', capabilities: [{ name: 'go', version: '1.0.0', input: inputs }] }
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const { pathname } = new URL(request.url)
    if (pathname === '/.well-known/agent.json') return Response.json({ ...descriptor, ...more })
    if (pathname !== '/go') return new Response(null, { status: 404 })
    requests.push(request)
    return respond()
  }
  return { fetch, requests }
}

interface AgentOptions {
  readonly inputs?: JsonObject
  readonly respond?: () => Response
  readonly more?: JsonObject
}

describe('parameters of a URI', () => {
  it.each(RESERVED_MEMBERS_VECTORS)('C-89 $title', async ({ inputs, input, reserved, rest }) => {
    const { fetch } = agentWith({ inputs })
    // `stream` is an option of the call, not a parameter; nested members cannot be written in a query.
    const isParameter = (name: string): boolean => name === 'sessionId' || name === 'taskId'
    const parametersOf = (members: object): Record<string, string> =>
      Object.fromEntries(Object.entries(members).filter(([name]) => isParameter(name)))
    const { params, control } = await resolveAgent(`${URI}?${new URLSearchParams(parametersOf(input))}`, { fetch })
    expect(params).toEqual(parametersOf(rest))
    expect(control).toEqual(parametersOf(reserved))
  })

  it.each(QUERY_INPUT_VECTORS)('become the input: %s', async (query, input) => {
    const { fetch, requests } = agentWith({ inputs: QUERY_INPUTS })
    await invokeAgent(`${URI}?${query}`, undefined, { fetch, retry })
    expect(await requests[0]?.json()).toEqual(input)
  })
})

describe('an identifier in the options and in the URI', () => {
  const vectors = AGREE_VECTORS.filter(({ body }) => body === undefined)

  it.each(vectors)('C-63 $title', async ({ header, query, value, refusal }) => {
    const { fetch, requests } = agentWith()
    const uri = query === undefined ? URI : `${URI}?${new URLSearchParams({ sessionId: query })}`
    const options: InvokeOptions = { fetch, retry, ...(header !== undefined && { sessionId: header }) }
    const call = invokeAgent(uri, {}, options)
    if (refusal !== undefined) {
      const message = expect.stringContaining(`sessionId ${refusal}`)
      await expect(call).rejects.toMatchObject({ code: 'invalid_argument', message })
    } else {
      await call
      expect(requests[0]?.headers.get('x-session-id') ?? undefined).toBe(value)
    }
  })

  it.each(AGREE_ON_VERSION_VECTORS)('C-63 versions $header and $query', async ({ header, query, version }) => {
    const { fetch } = agentWith({ more: { supportedVersions: { '2.0.0': '/v2.0/' } } })
    const uri = query === undefined ? URI : `${URI}?version=${encodeURIComponent(query)}`
    const resolved = resolveAgent(uri, { fetch, ...(header !== undefined && { version: header }) })
    if (version === undefined) await expect(resolved).rejects.toMatchObject({ code: 'version_conflict' })
    else expect(await resolved).toMatchObject({ version: '2.1.0' })
  })
})

describe('the request id', () => {
  it.each(REQUEST_IDS)('C-74 is sent: %s', async (requestId) => {
    const { fetch, requests } = agentWith()
    await invokeAgent(URI, {}, { fetch, retry, requestId })
    expect(requests[0]?.headers.get('x-request-id')).toBe(requestId)
  })

  it.each(NOT_REQUEST_IDS)('C-74 is rejected if the receiver would replace it: "%s"', async (requestId) => {
    const { fetch, requests } = agentWith()
    const refusal = { code: 'invalid_argument', message: expect.stringContaining('requestId') }
    await expect(invokeAgent(URI, {}, { fetch, retry, requestId })).rejects.toMatchObject(refusal)
    const client = createClient({ baseUrl: 'https://directory.example', fetch, retry })
    await expect(client.get('a', { requestId })).rejects.toMatchObject(refusal)
    await expect(client.invoke('a', {}, { requestId })).rejects.toMatchObject(refusal)
    expect(requests).toEqual([])
  })
})

describe('an idempotency key', () => {
  it.each(IDEMPOTENCY_KEY_VECTORS)('C-61 %s is valid: %s', async (idempotencyKey, isValid) => {
    const { fetch, requests } = agentWith()
    const call = invokeAgent(URI, {}, { fetch, retry, idempotencyKey })
    if (!isValid) await expect(call).rejects.toMatchObject({ code: 'invalid_argument' })
    else await call
    expect(requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual(isValid ? [idempotencyKey] : [])
  })
})

describe('a response', () => {
  const invoke = (respond: () => Response) => invokeAgent(URI, {}, { fetch: agentWith({ respond }).fetch, retry })

  it.each(JSON_TYPE_VECTORS)('of type %s is JSON: %s', async (contentType, isJson) => {
    const { output } = await invoke(() => new Response('{"text":"a"}', { headers: { 'content-type': contentType } }))
    if (isJson) expect(output).toEqual({ text: 'a' })
    else expect(output).toBeInstanceOf(Uint8Array)
  })

  it.each(JSON_BODY_VECTORS)('is read strictly: $title', async ({ bytes, value }) => {
    const reply = invoke(() => new Response(bytes, { headers: { 'content-type': 'application/json' } }))
    if (value === undefined) await expect(reply).rejects.toMatchObject({ code: 'bad_response' })
    else expect((await reply).output).toEqual(value)
  })

  it.each(RETRY_AFTER_VECTORS)('of 503 says when to retry: %s', async (header, retryAfter) => {
    const call = invoke(() => new Response(null, { status: 503, headers: { 'retry-after': header } }))
    await expect(call).rejects.toMatchObject({ code: 'unavailable', retryAfter })
  })
})

describe('a deferred response', () => {
  /** Calls an agent that responds with 202; the first poll gets `polled`, later ones get "result". */
  const defer = async (body: JsonValue, headers: Readonly<Record<string, string>>, polled: JsonValue = 'result') => {
    const polls: string[] = []
    const agent = agentWith({ respond: () => Response.json(body, { status: 202, headers }) })
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { origin, pathname } = new URL(new Request(input, init).url)
      if (pathname === '/go' || pathname.endsWith('.json')) return agent.fetch(input, init)
      polls.push(origin + pathname)
      return Response.json(polls.length === 1 ? polled : 'result')
    }
    const { output, taskId } = await invokeAgent(URI, {}, { fetch, retry: { ...retry, sleep: async () => {} } })
    return { output, taskId, polls }
  }

  it.each(ACCEPTED_TASK_VECTORS)('AURI-8-02 has the task of $title', async ({ body, headers, task }) => {
    expect(await defer(body, headers)).toEqual(
      task
        ? { output: 'result', taskId: task.id, polls: [`https://agent.example${task.path}`] }
        : { output: body, taskId: undefined, polls: [] },
    )
  })

  it.each(POLLED_TASK_VECTORS)('AURI-8-02 is polled: $title', async ({ body, says }) => {
    const reply = defer({ taskId: 't1' }, {}, body)
    if (says === 'running') expect(await reply).toMatchObject({ output: 'result', polls: { length: 2 } })
    else if ('result' in says) expect(await reply).toMatchObject({ output: says.result, polls: { length: 1 } })
    else await expect(reply).rejects.toThrow(says.failure)
  })

  it.each(OTHER_ORIGINS)('is rejected if its Location is %s', async (location) => {
    await expect(defer({ taskId: 't1' }, { location })).rejects.toMatchObject({ code: 'bad_response' })
  })
})
