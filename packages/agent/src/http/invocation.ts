import type { JsonObject } from '@switchboard/protocol'
import type { Authenticator } from '../auth/authenticate.js'
import { buildCall } from '../call/build-call.js'
import type { Call, Value } from '../call/call.js'
import type { Deferral, Invoke, Invoked } from '../call/invoke.js'
import { withMetadata } from '../call/perform.js'
import { fromQuery } from '../call/read-words.js'
import { AgentError, problemOf, toAgentError } from '../errors.js'
import type { MessageSigner } from '../signing/message-signer.js'
import { POLL_SECONDS, toTaskDocument } from '../tasks/task.js'
import type { Versions } from '../versions.js'
import { chooseType } from './accept.js'
import { answerJson } from './answer.js'
import { credentialsOf } from './credentials.js'
import type { Exchange } from './exchange.js'
import { readJsonBody } from './read-body.js'
import { streamBody } from './stream-body.js'
import { formOf, STREAM_TYPES } from './stream-forms.js'

export interface InvocationDeps {
  readonly versions: Versions
  readonly authenticator: Authenticator
  readonly invoke: Invoke
  readonly maxBodyBytes: number
  /** Where answers are signed (C-64). */
  readonly signer?: MessageSigner
}

/** What the path says of a call. */
export interface Target {
  readonly capability: string | undefined
  readonly version: string | undefined
}

const JSON_TYPE = 'application/json'

/** Calls over HTTP: `POST /{capability}`, `POST /` or `/invoke`, and GET for what changes nothing (AIDIP §5, C-57). */
export function createInvocation(deps: InvocationDeps) {
  return async (exchange: Exchange, target: Target): Promise<Response> => {
    const { request, url } = exchange
    const caller = await deps.authenticator.authenticate(credentialsOf(exchange))
    const header = (name: string): string | null => request.headers.get(name)
    const leaving = new AbortController()
    const leave = (): void => leaving.abort()
    // Not by AbortSignal.any, which costs more than all the rest of a small call.
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
      wantsStream: STREAM_TYPES.includes(chooseType(header('accept'), [JSON_TYPE, ...STREAM_TYPES]) ?? ''),
      signal: leaving.signal,
    })
    const wish = readWish(exchange, call)
    const invoked = await deps.invoke(call, wish.defer)
    return answer(exchange, call, invoked, wish, deps.signer, leave)
  }
}

/** Only what is said to change nothing may be asked for with GET: an accidental one never runs anything (C-57). */
function getInput(versions: Versions, { capability: name, version }: Target, url: URL): JsonObject {
  const { capabilities } = versions.choose(version)
  const [only] = capabilities.size === 1 ? capabilities.values() : []
  const capability = name === undefined ? only : capabilities.get(name)
  if (name !== undefined && !capability) {
    throw new AgentError('capability_not_found', `The requested capability '${name.slice(0, 100)}' was not found.`)
  }
  if (!capability?.safe) {
    throw new AgentError('method_not_allowed', 'a capability is called with POST', { headers: { allow: 'POST' } })
  }
  return fromQuery(capability, url.searchParams)
}

interface Wish {
  readonly defer: Deferral | undefined
  /** The media type to answer with. */
  readonly type: string
}

/** What the caller takes, and whether it can wait; 406 tells what there is (AURI §8.1, C-62). */
function readWish({ request }: Exchange, { capability, wantsStream }: Call): Wish {
  const accept = request.headers.get('accept')
  const whole = [JSON_TYPE, ...(capability.outputFormats ?? [])]
  const offered = wantsStream ? [...STREAM_TYPES, ...whole] : [...whole, ...STREAM_TYPES]
  const type = chooseType(accept, offered)
  if (type === undefined) {
    throw new AgentError('not_acceptable', `${capability.name} answers as ${offered.join(', ')}`, {
      members: { supported: offered },
    })
  }
  const isPatient = /(^|,)\s*respond-async\s*(;|,|$)/i.test(request.headers.get('prefer') ?? '')
  const callbackUrl = request.headers.get('x-callback-url')
  if (!isPatient && !capability.deferred) return { defer: undefined, type }
  return { defer: callbackUrl === null ? {} : { callbackUrl }, type }
}

function answer(
  { base, request, url, requestId }: Exchange,
  call: Call,
  invoked: Invoked,
  { type, defer }: Wish,
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
    const form = formOf(chooseType(request.headers.get('accept'), STREAM_TYPES))
    const at = { instance: url.pathname, requestId }
    const toProblem = (error: unknown): JsonObject => problemOf(toAgentError(error), at)
    return new Response(streamBody(parts, { form, toProblem, onLeave }), {
      // Nothing on the way shall wait for more before it passes a part on.
      headers: { ...headers, 'content-type': form.type, 'x-accel-buffering': 'no' },
    })
  }
  switch (invoked.kind) {
    case 'task': {
      const { id } = invoked.task
      return answerJson(toTaskDocument(invoked.task), 202, {
        ...headers,
        'x-task-id': id,
        // Without a host: whichever way the caller came, it asks again the same way.
        location: `${new URL(base).pathname.replace(/\/$/, '')}/tasks/${encodeURIComponent(id)}`,
        'retry-after': String(POLL_SECONDS),
        ...(/respond-async/i.test(request.headers.get('prefer') ?? '') &&
          defer && { 'preference-applied': 'respond-async' }),
      })
    }
    case 'parts':
      return stream(invoked.parts)
    case 'value': {
      const value = withMetadata(invoked, call.capability.output)
      if (STREAM_TYPES.includes(type)) return stream(only(value))
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
      return answerJson(value, status, { ...headers, ...more, ...signature })
    }
  }
}

/** A whole answer, for a caller who reads streams. */
async function* only<T>(value: T): AsyncGenerator<T, void, undefined> {
  yield value
}
