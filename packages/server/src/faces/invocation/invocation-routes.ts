import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../policy/caller.js'
import type { RateLimits } from '../../policy/rate-limit.js'
import type { Invoke } from '../../services/calls/invoke.js'
import type { Input, Invocation } from '../../services/calls/request/invocation.js'
import { clientOf } from '../admit.js'
import { AIDIP_BASES, type Route, type RouteGroup } from '../route-group.js'
import { withFrame } from './call-frame.js'
import type { CallSockets, SocketCalls } from './call-sockets.js'
import { readEnvelope, readInput } from './read-invocation.js'
import { sendInvoked } from './send-invoked.js'
import { upgradeOf } from './upgrades.js'

export interface InvocationOptions {
  readonly invoke: Invoke
  readonly limits: RateLimits
  /** Bytes of an input. */
  readonly maxInputBytes: number
  readonly sockets: CallSockets
  /** Finds out who is calling and spends the allowance of one call, or throws. */
  readonly admit: (request: FastifyRequest) => Promise<void> | undefined
}

/** Ways to say what is called; the rest of the call is the same for all. */
const PATHS = {
  '/agents/:id/invoke': 'Call an agent; with several operations, the member `operation` says which',
  '/agents/:id/:operation': 'Call one operation of an agent',
  '/agents/:id/operations/:operation': 'Call an operation whose name is also that of another path',
  '/agents/:id/versions/:version/:operation': 'Call a certain version of an agent; `invoke` as on the unified path',
}

/** AIDIP §5: calls of agents through this directory, by POST or over a WebSocket on the same paths (C-59). */
export function createInvocationRoutes(options: InvocationOptions): RouteGroup {
  const routes = AIDIP_BASES.flatMap((base) =>
    Object.entries(PATHS).map(([path, summary]) => toRoute(base + path, summary, options)),
  )
  return { name: 'invocation', errors: 'application/json', routes }
}

function toRoute(path: string, summary: string, options: InvocationOptions): Route {
  return {
    method: 'POST',
    path,
    summary,
    access: 'caller',
    limit: 'invoke',
    bodyLimit: options.maxInputBytes,
    query: {
      version: 'the version to call, as X-Agent-Version',
      sessionId: 'as X-Session-ID',
      taskId: 'as X-Task-ID',
    },
    body: INPUT_SCHEMA,
    responses: {
      200: 'the output, or a stream of parts (`stream: true`, or Accept)',
      201: 'the output of work that made something',
      202: 'taken on (`Prefer: respond-async`, or the agent’s own wish): see Location',
      207: 'a batch of which some failed',
      400: 'the input does not fit; details name the members',
      401: 'no credentials, or the agent’s own are missing',
      403: 'not with these credentials',
      404: 'no such agent, operation or version, as far as the caller may know',
      406: 'the answer does not come in what is accepted',
      409: 'a call with this Idempotency-Key is under way',
      413: 'the input, or the batch, is too large',
      415: 'the operation does not take this kind of input',
      422: 'this Idempotency-Key was used for another call',
      429: 'too many calls',
      500: 'the agent failed',
      501: 'the agent cannot be called here',
      502: 'the agent could not be reached, or gave no proper answer',
      503: 'the agent is not available now: see Retry-After',
      504: 'the agent did not answer in time',
      508: 'the call leads back to this directory',
    },
    handle: (request, reply) => handle(options, request, reply),
  }
}

/** Any JSON: the agent's own schema decides. */
const INPUT_SCHEMA = {
  description: 'the input of the operation, or an array of inputs',
  type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
}

async function handle(options: InvocationOptions, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { invoke, limits, sockets } = options
  const envelope = readEnvelope(request)
  const upgrade = upgradeOf(request.raw)
  if (upgrade) {
    reply.hijack()
    sockets.accept(upgrade, request, callsOver(options, request, envelope))
    return reply
  }
  const spend = spender(limits, request.caller)
  const signal = signalOf(reply)
  const input = await readInput(request)
  return sendInvoked(request, reply, await invoke({ ...envelope, input, spend, signal }))
}

const spender =
  (limits: RateLimits, caller: Caller): Invocation['spend'] =>
  (calls) =>
    limits.spend('invoke', clientOf(caller), calls)

/** Calls over the socket that a request becomes. */
function callsOver(
  { invoke, limits, admit }: InvocationOptions,
  request: FastifyRequest,
  envelope: ReturnType<typeof readEnvelope>,
): SocketCalls {
  const { caller } = envelope
  let isAdmitted = true
  return {
    one: (input, signal) => invoke({ ...envelope, choose, input, spend: spender(limits, caller), signal }),
    async ofFrame(frame, signal) {
      // The handshake stands for one call; before another, the key may have been withdrawn or its calls be used up.
      if (!isAdmitted) await admit(request)
      isAdmitted = false
      const asked = withFrame({ ...envelope, caller: request.caller }, frame)
      const input: Input = { kind: 'json', value: frame.input }
      return invoke({ ...asked, input, spend: spender(limits, asked.caller), signal })
    },
  }
}

/** Over a socket everything is lines. */
const choose: Invocation['choose'] = (offered) => offered.find((type) => type === 'application/x-ndjson')

/** Aborted when the caller goes away before it has been answered. */
function signalOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort()
  })
  return controller.signal
}
