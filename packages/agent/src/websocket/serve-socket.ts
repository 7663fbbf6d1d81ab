import { asString, isObject, type JsonObject, type JsonValue, parseJson, toRequestId } from '@switchboard/protocol'
import type { WebSocket } from 'ws'
import type { Caller } from '../auth/caller.js'
import { type Asked, buildCall, textIn } from '../call/build-call.js'
import type { Invoke } from '../call/invoke.js'
import { AgentError, problemOf, toAgentError } from '../errors.js'
import type { Target } from '../http/invocation.js'
import { toTaskDocument } from '../tasks/task.js'
import type { Versions } from '../versions.js'
import { createLineReader } from './read-lines.js'

/** Bytes that wait to be sent; a caller who reads slower makes the handler wait. */
const HIGH_WATER = 65_536
/** Calls at once on one socket. */
const MAX_CALLS = 32
/** Milliseconds between two signs of life; a caller who gives none in between has gone. */
const HEARTBEAT_MS = 15_000
/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001
const REFUSED = 1008

/** A socket that is being served. */
export interface ServedSocket {
  /** Closes it as soon as no call is under way on it. */
  leave(): void
}

export interface SocketDeps {
  readonly versions: Versions
  readonly invoke: Invoke
  readonly newId: () => string
  readonly maxLineLength: number
}

/** What the handshake says of every call on a socket. */
export interface SocketPlace {
  readonly caller: Caller
  readonly base: string
  readonly target: Target
  readonly headers: Headers
}

/**
 * Calls over one socket, as lines of JSON both ways (AURI §8). Callers send requests, and may take them back:
 *
 *     {"id":"1","operation":"translate","input":{…},"stream":true,"sessionId":"s1"}
 *     {"id":"1","cancel":true}
 *
 * and get the whole, or parts and an end, or an error, in any order among the calls:
 *
 *     {"id":"1","result":{…}}    {"id":"1","data":{…}}    {"id":"1","done":true}    {"id":"1","error":{…}}
 */
export function serveSocket(socket: WebSocket, deps: SocketDeps, place: SocketPlace): ServedSocket {
  const calls = new Map<string, AbortController>()
  const readLines = createLineReader(deps.maxLineLength)
  let isLeaving = false

  const send = async (frame: JsonObject): Promise<void> => {
    if (socket.readyState !== socket.OPEN) return
    // Called when it is on its way, and also when the socket has closed instead.
    const sent = new Promise<void>((resolve) => socket.send(`${JSON.stringify(frame)}\n`, () => resolve()))
    if (socket.bufferedAmount > HIGH_WATER) await sent
  }

  const run = async (id: JsonValue, frame: JsonObject): Promise<void> => {
    const key = String(id)
    const controller = new AbortController()
    const requestId = toRequestId(frame.requestId, deps.newId)
    try {
      if (isLeaving) throw new AgentError('unavailable', 'the agent is stopping')
      if (calls.has(key)) throw new AgentError('conflict', `a call with the id ${key} is under way`)
      if (calls.size >= MAX_CALLS) throw new AgentError('unavailable', `more than ${MAX_CALLS} calls on one socket`)
      calls.set(key, controller)
      const call = buildCall(deps.versions, toAsked(frame, place, requestId, controller.signal))
      const invoked = await deps.invoke(call, frame.respondAsync === true || call.capability.deferred ? {} : undefined)
      const told = { id, version: call.version }
      if (invoked.kind === 'parts') {
        for await (const data of invoked.parts) {
          await send({ id, data })
          if (socket.readyState !== socket.OPEN) controller.abort()
          if (controller.signal.aborted) return
        }
        await send({ ...told, done: true })
      } else if (invoked.kind === 'task') {
        await send({ ...told, result: toTaskDocument(invoked.task) })
      } else {
        const { value, metadata, sessionId } = invoked
        await send({ ...told, result: value, metadata, ...(sessionId !== undefined && { sessionId }) })
      }
    } catch (error) {
      // Nobody waits for the answer of a call that was taken back.
      if (!controller.signal.aborted) {
        const instance = asString(frame.operation) ?? place.target.capability ?? ''
        await send({ id, error: problemOf(toAgentError(error), { instance: `/${instance}`, requestId }) })
      }
    } finally {
      if (calls.get(key) === controller) calls.delete(key)
      if (isLeaving && calls.size === 0) socket.close(GOING_AWAY)
    }
  }

  const onLine = (line: string): void => {
    const frame = parseJson(line)
    const id = isObject(frame) ? frame.id : undefined
    if (!isObject(frame) || (typeof id !== 'string' && typeof id !== 'number')) {
      throw new AgentError('invalid_input', 'a line must be an object with an id, such as {"id":"1","input":{}}')
    }
    if (frame.cancel === true) calls.get(String(id))?.abort()
    else void run(id, frame)
  }

  socket.on('message', (data, isBinary) => {
    try {
      if (isBinary) throw new AgentError('unsupported_media_type', 'lines are text')
      for (const line of readLines(String(data))) onLine(line)
    } catch (error) {
      // Whoever does not keep to the protocol is not understood any more.
      void send({ error: problemOf(toAgentError(error), { instance: '/', requestId: deps.newId() }) })
      socket.close(REFUSED, 'not understood')
    }
  })
  let isAlive = true
  socket.on('pong', () => {
    isAlive = true
  })
  const heartbeat = setInterval(() => {
    if (!isAlive) socket.terminate()
    isAlive = false
    socket.ping()
  }, HEARTBEAT_MS)
  heartbeat.unref()
  socket.on('close', () => {
    clearInterval(heartbeat)
    for (const controller of calls.values()) controller.abort()
  })
  // A broken socket closes too.
  socket.on('error', () => {})
  return {
    leave() {
      isLeaving = true
      if (calls.size === 0) socket.close(GOING_AWAY)
    },
  }
}

/** What has no header here has a place in the envelope; the handshake's headers hold for every call (AURI §8.1). */
function toAsked(
  frame: JsonObject,
  { caller, base, target, headers }: SocketPlace,
  requestId: string,
  signal: AbortSignal,
): Asked {
  const operation = textIn(frame, 'operation')
  if (operation !== undefined && target.capability !== undefined && operation !== target.capability) {
    throw new AgentError('invalid_input', `/operation must be "${target.capability}", as in the URL, or be left out`)
  }
  return {
    capability: operation ?? target.capability,
    input: frame.input ?? {},
    caller,
    base,
    requestId,
    versions: [headers.get('x-agent-version'), target.version, textIn(frame, 'version')],
    sessionIds: [headers.get('x-session-id'), textIn(frame, 'sessionId')],
    taskIds: [headers.get('x-task-id'), textIn(frame, 'taskId')],
    idempotencyKey: textIn(frame, 'idempotencyKey'),
    delegationChain: textIn(frame, 'delegationChain') ?? headers.get('x-delegation-chain'),
    wantsStream: frame.stream === true,
    signal,
  }
}
