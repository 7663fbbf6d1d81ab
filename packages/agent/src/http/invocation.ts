import { sortParams } from '@switchboard/agent-uri'
import {
  chooseMediaType,
  declaresMember,
  EVENT_STREAM,
  isStreamType,
  type JsonObject,
  NDJSON,
  prefersAsync,
  readQueryInput,
  STREAM_TYPES,
} from '@switchboard/protocol'
import type { Authenticator } from '../auth/authenticate.js'
import { buildCall } from '../call/build-call.js'
import type { Call, Value } from '../call/call.js'
import type { Deferral, Invoke, Invoked } from '../call/invoke.js'
import { withMetadata } from '../call/perform.js'
import { AgentError, problemOf, toAgentError } from '../errors.js'
import type { MessageSigner } from '../signing/message-signer.js'
import { POLL_SECONDS, toTaskDocument } from '../tasks/task.js'
import type { Versions } from '../versions.js'
import { credentialsOf } from './credentials.js'
import type { Exchange } from './exchange.js'
import { readJsonBody } from './read-body.js'
import { jsonResponse } from './responses.js'
import { streamBody } from './stream-body.js'

export interface InvocationDeps {
  readonly versions: Versions
  readonly authenticator: Authenticator
  readonly invoke: Invoke
  readonly maxBodyBytes: number
  /** Signs responses (C-64). */
  readonly signer?: MessageSigner
}

/** What the path of a call names. */
export interface Target {
  readonly capability: string | undefined
  readonly version: string | undefined
}

const JSON_TYPE = 'application/json'

/** Calls over HTTP: `POST /{capability}`, `POST /` or `/invoke`, and GET for safe capabilities (AIDIP §5, C-57). */
export function createInvocation(deps: InvocationDeps) {
  return async (exchange: Exchange, target: Target): Promise<Response> => {
    const { request, url } = exchange
    const caller = await deps.authenticator.authenticate(credentialsOf(exchange))
    const header = (name: string): string | null => request.headers.get(name)
    const leaving = new AbortController()
    const leave = (): void => leaving.abort()
    // AbortSignal.any would cost more than the rest of a small call.
    request.signal.addEventListener('abort', leave, { once: true })
    const isGet = request.method === 'GET'
    const call = buildCall(deps.versions, {
      capability: target.capability,
      input: isGet ? getInput(deps.versions, target, url) : await readJsonBody(request, deps.maxBodyBytes),
      caller,
      base: exchange.base,
      requestId: exchange.requestId,
      versions: [header('x-agent-version'), target.version],
      sessionIds: [header('x-session-id')],
      taskIds: [header('x-task-id')],
      query: url.searchParams,
      idempotencyKey: header('idempotency-key'),
      delegationChain: header('x-delegation-chain'),
      wantsStream: isStreamType(chooseMediaType(header('accept'), [JSON_TYPE, ...STREAM_TYPES])),
      signal: leaving.signal,
    })
    const preferences = readPreferences(exchange, call)
    const invoked = await deps.invoke(call, preferences.defer)
    return toResponse(exchange, call, invoked, preferences, deps.signer, leave)
  }
}

/** Only safe capabilities can be called with GET, so that a stray GET never changes anything (C-57). */
function getInput(versions: Versions, { capability: name, version }: Target, url: URL): JsonObject {
  const { capabilities } = versions.choose(version)
  const [only] = capabilities.size === 1 ? capabilities.values() : []
  const capability = name === undefined ? only : capabilities.get(name)
  if (name !== undefined && !capability) {
    throw new AgentError('capability_not_found', `The requested capability '${name.slice(0, 100)}' was not found.`)
  }
  if (!capability?.safe) {
    throw new AgentError('method_not_allowed', 'call capabilities with POST', { headers: { allow: 'POST' } })
  }
  const parameters = parametersOf(url.searchParams)
  const declared = Object.keys(parameters).filter((parameter) => declaresMember(capability.input, parameter))
  return readQueryInput(Object.entries(sortParams(parameters, declared).input), capability.input)
}

/** Parameters by name; a repeated one has a list. */
const parametersOf = (query: URLSearchParams): Record<string, string | string[]> =>
  Object.fromEntries(
    Array.from(new Set(query.keys()), (name) => {
      const [first = '', ...more] = query.getAll(name)
      return [name, more.length === 0 ? first : [first, ...more]]
    }),
  )

interface Preferences {
  readonly defer: Deferral | undefined
  /** The media type of the response. */
  readonly type: string
}

/** The media type that the caller prefers, and whether it wants to wait (AURI §8.1, C-62). */
function readPreferences({ request }: Exchange, { capability, wantsStream }: Call): Preferences {
  const accept = request.headers.get('accept')
  const whole = [JSON_TYPE, ...(capability.outputFormats ?? [])]
  const offered = wantsStream ? [...STREAM_TYPES, ...whole] : [...whole, ...STREAM_TYPES]
  const type = chooseMediaType(accept, offered)
  if (type === undefined) {
    throw new AgentError('not_acceptable', `${capability.name} is offered as ${offered.join(', ')}`, {
      members: { supported: offered },
    })
  }
  const callbackUrl = request.headers.get('x-callback-url')
  if (!prefersAsync(request.headers.get('prefer')) && !capability.deferred) return { defer: undefined, type }
  return { defer: callbackUrl === null ? {} : { callbackUrl }, type }
}

function toResponse(
  { base, request, url, requestId }: Exchange,
  call: Call,
  invoked: Invoked,
  { type, defer }: Preferences,
  signer: MessageSigner | undefined,
  onLeave: () => void,
): Response {
  const sessionId = invoked.kind === 'task' ? call.sessionId : invoked.sessionId
  const headers = {
    'cache-control': 'no-store',
    'x-agent-version': call.version,
    ...(sessionId !== undefined && { 'x-session-id': sessionId }),
    ...(call.taskId !== undefined && { 'x-task-id': call.taskId }),
    ...(invoked.isReplay && { 'idempotent-replayed': 'true' }),
  }
  const stream = (parts: AsyncGenerator<Value['value'], void, undefined>): Response => {
    const type = chooseMediaType(request.headers.get('accept'), STREAM_TYPES)
    const format = type === NDJSON.type ? NDJSON : EVENT_STREAM
    const at = { instance: url.pathname, requestId }
    const toProblem = (error: unknown): JsonObject => problemOf(toAgentError(error), at)
    return new Response(streamBody(parts, { format, toProblem, onLeave }), {
      // Proxies must not buffer the parts.
      headers: { ...headers, 'content-type': format.type, 'x-accel-buffering': 'no' },
    })
  }
  switch (invoked.kind) {
    case 'task': {
      const { id } = invoked.task
      return jsonResponse(toTaskDocument(invoked.task), 202, {
        ...headers,
        'x-task-id': id,
        // Relative, so that it works through whichever host the caller used.
        location: `${new URL(base).pathname.replace(/\/$/, '')}/tasks/${encodeURIComponent(id)}`,
        'retry-after': String(POLL_SECONDS),
        ...(prefersAsync(request.headers.get('prefer')) && defer && { 'preference-applied': 'respond-async' }),
      })
    }
    case 'parts':
      return stream(invoked.parts)
    case 'value': {
      const value = withMetadata(invoked, call.capability.output)
      if (isStreamType(type)) return stream(only(value))
      const more = {
        'content-type': type,
        ...(!invoked.isValid && { 'x-output-valid': 'false' }),
        ...(invoked.location !== undefined && { location: invoked.location }),
      }
      const status = invoked.location === undefined ? 200 : 201
      const signature = signer?.sign(
        [
          { name: '@status', value: String(status) },
          { name: 'content-type', value: type },
        ],
        JSON.stringify(value),
      )
      return jsonResponse(value, status, { ...headers, ...more, ...signature })
    }
  }
}

/** A stream of one part, for a caller that accepts only streams. */
async function* only<T>(value: T): AsyncGenerator<T, void, undefined> {
  yield value
}
