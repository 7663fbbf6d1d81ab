import {
  asString,
  type CallerFrame,
  createMessageLines,
  parseJson,
  type ReplyLine,
  readCallerFrame,
  toRequestId,
  writeFrame,
  writeLine,
} from '@switchboard/protocol'
import type { WebSocket } from 'ws'
import type { Caller } from '../auth/caller.js'
import { buildCall, type CallRequest, textIn } from '../call/build-call.js'
import type { Invoke } from '../call/invoke.js'
import { AgentError, problemOf, toAgentError } from '../errors.js'
import type { Target } from '../http/invocation.js'
import { toTaskDocument } from '../tasks/task.js'
import type { Versions } from '../versions.js'

/** Bytes waiting to be sent at which the handler has to wait for a slow caller. */
const HIGH_WATER = 65_536
/** Maximum number of concurrent calls on one socket. */
const MAX_CALLS = 32
/** Milliseconds between pings; a caller that misses one is disconnected. */
const HEARTBEAT_MS = 15_000
/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001
const REFUSED = 1008

/** A socket that is being served. */
export interface ServedSocket {
  /** Closes it when no call is in progress. */
  leave(): void
}

export interface SocketDeps {
  readonly versions: Versions
  readonly invoke: Invoke
  readonly newId: () => string
  readonly maxLineLength: number
}

/** What the handshake settles for every call on a socket. */
export interface SocketPlace {
  readonly caller: Caller
  readonly base: string
  readonly target: Target
  readonly headers: Headers
}

/** Serves the calls that come over one socket, in frames (AURI §8). */
export function serveSocket(socket: WebSocket, deps: SocketDeps, place: SocketPlace): ServedSocket {
  const calls = new Map<string, AbortController>()
  const lines = createMessageLines(deps.maxLineLength, () => {
    throw new AgentError('payload_too_large', `a line is longer than ${deps.maxLineLength} characters`)
  })
  let isLeaving = false

  const sendLine = async (line: string): Promise<void> => {
    if (socket.readyState !== socket.OPEN) return
    // The callback also runs if the socket closes before the line is sent.
    const sent = new Promise<void>((resolve) => socket.send(line, () => resolve()))
    if (socket.bufferedAmount > HIGH_WATER) await sent
  }
  const send = (frame: ReplyLine): Promise<void> => sendLine(writeFrame(frame))

  const run = async (frame: RequestFrame): Promise<void> => {
    const { id, members } = frame
    const key = String(id)
    const controller = new AbortController()
    const requestId = toRequestId(members.requestId, deps.newId)
    try {
      if (isLeaving) throw new AgentError('unavailable', 'the agent is stopping')
      if (calls.has(key)) throw new AgentError('conflict', `a call with the id ${key} is in progress`)
      if (calls.size >= MAX_CALLS) throw new AgentError('unavailable', `more than ${MAX_CALLS} calls on one socket`)
      calls.set(key, controller)
      const call = buildCall(deps.versions, toCallRequest(frame, place, requestId, controller.signal))
      const invoked = await deps.invoke(
        call,
        members.respondAsync === true || call.capability.deferred ? {} : undefined,
      )
      const { version } = call
      if (invoked.kind === 'parts') {
        for await (const data of invoked.parts) {
          await send({ id, data })
          if (socket.readyState !== socket.OPEN) controller.abort()
          if (controller.signal.aborted) return
        }
        await send({ id, version, done: true })
      } else if (invoked.kind === 'task') {
        await send({ id, version, result: toTaskDocument(invoked.task) })
      } else {
        const { value, metadata, sessionId } = invoked
        await send({ id, version, result: value, metadata, ...(sessionId !== undefined && { sessionId }) })
      }
    } catch (error) {
      // Nobody waits for the reply to a cancelled call.
      if (!controller.signal.aborted) {
        const instance = asString(members.operation) ?? place.target.capability ?? ''
        await send({ id, error: problemOf(toAgentError(error), { instance: `/${instance}`, requestId }) })
      }
    } finally {
      if (calls.get(key) === controller) calls.delete(key)
      if (isLeaving && calls.size === 0) socket.close(GOING_AWAY)
    }
  }

  const onLine = (line: string): void => {
    const frame = readCallerFrame(parseJson(line))
    if (!frame) {
      throw new AgentError('invalid_input', 'a line must be an object with an id, such as {"id":"1","input":{}}')
    }
    if (frame.kind === 'cancel') calls.get(String(frame.id))?.abort()
    else void run(frame)
  }

  socket.on('message', (data, isBinary) => {
    try {
      if (isBinary) throw new AgentError('unsupported_media_type', 'send text messages: frames are lines of JSON')
      for (const line of lines.push(String(data))) onLine(line)
    } catch (error) {
      // After a line that is not a frame, the rest cannot be trusted either.
      void sendLine(writeLine({ error: problemOf(toAgentError(error), { instance: '/', requestId: deps.newId() }) }))
      socket.close(REFUSED, 'not a frame')
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
  // The close event follows.
  socket.on('error', () => {})
  return {
    leave() {
      isLeaving = true
      if (calls.size === 0) socket.close(GOING_AWAY)
    },
  }
}

type RequestFrame = Extract<CallerFrame, { kind: 'request' }>

/** The members of a frame stand for headers; the headers of the handshake apply to every call (AURI §8.1). */
function toCallRequest(
  { input, wantsStream, members }: RequestFrame,
  { caller, base, target, headers }: SocketPlace,
  requestId: string,
  signal: AbortSignal,
): CallRequest {
  const operation = textIn(members, 'operation')
  if (operation !== undefined && target.capability !== undefined && operation !== target.capability) {
    throw new AgentError('invalid_input', `/operation must be "${target.capability}", as in the URL, or be left out`)
  }
  return {
    capability: operation ?? target.capability,
    input,
    caller,
    base,
    requestId,
    versions: [headers.get('x-agent-version'), target.version, textIn(members, 'version')],
    sessionIds: [headers.get('x-session-id'), textIn(members, 'sessionId')],
    taskIds: [headers.get('x-task-id'), textIn(members, 'taskId')],
    idempotencyKey: textIn(members, 'idempotencyKey'),
    delegationChain: textIn(members, 'delegationChain') ?? headers.get('x-delegation-chain'),
    wantsStream,
    signal,
  }
}
