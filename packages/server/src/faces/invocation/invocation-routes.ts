import { STREAM_TYPES } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, clientOf } from '../../policy/caller.js'
import type { RateLimits } from '../../policy/rate-limit.js'
import type { Invoke } from '../../services/calls/invoke.js'
import type { Input, Invocation } from '../../services/calls/request/invocation.js'
import { signalOf } from '../respond.js'
import { belowAidipBases, type Route, type RouteGroup } from '../route-group.js'
import { callErrorSchema } from '../schemas/error.js'
import { anything, text } from '../schemas/parts.js'
import { type DescribedResponse, json } from '../schemas/response.js'
import { acceptedSchema } from '../tasks/response-schemas.js'
import { withFrame } from './call-frame.js'
import type { CallSockets, SocketCalls } from './call-sockets.js'
import { type InvocationHead, readHead, readInput } from './read-invocation.js'
import { sendResult } from './send-result.js'
import { upgradeOf } from './upgrades.js'

export interface InvocationOptions {
  readonly invoke: Invoke
  readonly limits: RateLimits
  /** Most bytes, and most JSON values, of an input. */
  readonly maxInputBytes: number
  readonly maxInputValues: number
  readonly sockets: CallSockets
  /** Authenticates the caller and counts one call against its rate limit, or throws. */
  readonly admit: (request: FastifyRequest) => Promise<void> | undefined
}

/** Paths that name what is called; everything else is the same for all. */
const PATHS = {
  '/agents/:id/invoke': 'Call an agent; if it has several operations, the member `operation` selects one',
  '/agents/:id/:operation': 'Call one operation of an agent',
  '/agents/:id/operations/:operation': 'Call an operation whose name is also a path',
  '/agents/:id/versions/:version/:operation':
    'Call a version of an agent; with `invoke`, the member `operation` selects the operation',
}

/** AIDIP §5: calls to agents through this directory, by POST or over a WebSocket on the same paths (C-59). */
export function createInvocationRoutes(options: InvocationOptions): RouteGroup {
  const routesBelow = (base: string): Route[] =>
    Object.entries(PATHS).map(([path, summary]) => toRoute(base + path, summary, options))
  return {
    name: 'invocation',
    summary: 'Call agents through the directory',
    errors: 'application/json',
    routes: belowAidipBases(routesBelow, ['/v1', '/v0']),
  }
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
      version: 'the version to call; same as X-Agent-Version',
      sessionId: 'same as X-Session-ID',
      taskId: 'same as X-Task-ID',
    },
    headers: HEADERS,
    body: INPUT_SCHEMA,
    bodyTypes: ['application/json', '*/*'],
    bodyOptional: true,
    responses: {
      200: output('the output, or a stream of parts (`stream: true`, or Accept)'),
      201: output('the output; the agent has created something'),
      202: json('deferred, by `Prefer: respond-async` or by the agent: see Location', acceptedSchema),
      204: 'the agent returned nothing',
      207: json('a batch in which some inputs failed', { type: 'array', items: anything }),
      400: failure('the input does not match its schema; `details` name the members'),
      401: failure('no credentials for the directory, or none for the agent'),
      403: failure('these credentials do not allow the call'),
      404: failure('no such agent, operation or version that the caller may see'),
      406: failure('the response is not available in an accepted media type'),
      409: failure('a call with this Idempotency-Key is in progress'),
      413: failure('the input, or the batch, is too large'),
      415: failure('the operation does not support this media type'),
      422: failure('this Idempotency-Key was used for a different call'),
      429: failure('too many calls, or too many in progress: see Retry-After'),
      500: failure('the agent failed'),
      501: failure('the agent cannot be called through this directory'),
      502: failure('the agent could not be reached, or its response was invalid'),
      503: failure(
        'the agent is temporarily unavailable, or it or the directory has too many calls in progress: see Retry-After',
      ),
      504: failure('the agent did not respond in time'),
      508: failure('the call leads back to this directory'),
    },
    handle: (request, reply) => handle(options, request, reply),
  }
}

/** An error of the directory or the agent; for a batch of which every input failed, one for each input. */
const failure = (description: string): DescribedResponse => ({
  description,
  content: {
    'application/json': { anyOf: [callErrorSchema, { type: 'array', items: anything }] },
    'application/problem+json': callErrorSchema,
  },
})

/** Whatever the agent returns: JSON, parts of a stream, or other content as it is. */
const output = (description: string): DescribedResponse => ({
  description,
  content: {
    'application/json': anything,
    ...Object.fromEntries(STREAM_TYPES.map((type) => [type, text])),
    '*/*': anything,
  },
})

const HEADERS = {
  'Idempotency-Key': 'the call is made once, however often the request is sent with this key',
  Prefer: '`respond-async`: do not wait for the output',
  'X-Agent-Version': 'the version to call',
  'X-Session-ID': 'the session that the call belongs to',
  'X-Task-ID': 'the task that the call belongs to',
  'X-Callback-URL': 'is notified when a deferred call has ended',
  'X-Agent-Authorization': 'passed on to the agent as Authorization',
  'X-Agent-API-Key': 'passed on to the agent as X-API-Key',
  'X-Delegation-Chain': 'on whose behalf the caller acts',
  'X-Search-ID': 'the search that found the agent',
}

/** Any JSON: the input is checked against the agent's own schema. */
const INPUT_SCHEMA = {
  description: 'the input of the operation, or an array of inputs',
  type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
}

async function handle(options: InvocationOptions, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { invoke, limits, sockets } = options
  const head = readHead(request)
  const upgrade = upgradeOf(request.raw)
  if (upgrade) {
    reply.hijack()
    sockets.accept(upgrade, request, callsOver(options, request, head))
    return reply
  }
  const spend = spender(limits, request.caller)
  const signal = signalOf(reply)
  const read = readInput(request, { maxValues: options.maxInputValues })
  const input = read instanceof Promise ? await read : read
  const onHeaders: Invocation['onHeaders'] = (headers) => reply.headers(headers)
  return sendResult(request, reply, await invoke({ input, spend, onHeaders, signal, ...head }))
}

const spender =
  (limits: RateLimits, caller: Caller): Invocation['spend'] =>
  (calls) =>
    limits.spend('invoke', clientOf(caller), calls)

/** The calls of a WebSocket that was opened by this request. */
function callsOver(
  { invoke, limits, admit }: InvocationOptions,
  request: FastifyRequest,
  head: InvocationHead,
): SocketCalls {
  const { caller } = head
  let isAdmitted = true
  return {
    one: (input, signal) => invoke({ ...head, chooseMediaType, input, spend: spender(limits, caller), signal }),
    async ofFrame(frame, signal) {
      // The handshake admitted the first call. Before another one the key may be revoked or its rate limit reached.
      if (!isAdmitted) await admit(request)
      isAdmitted = false
      const own = withFrame({ ...head, caller: request.caller }, frame)
      const input: Input = { kind: 'json', value: frame.input }
      return invoke({ input, spend: spender(limits, own.caller), signal, ...own })
    },
  }
}

/** Over a socket every response is sent as lines of JSON. */
const chooseMediaType: Invocation['chooseMediaType'] = (offered) =>
  offered.find((type) => type === 'application/x-ndjson')
