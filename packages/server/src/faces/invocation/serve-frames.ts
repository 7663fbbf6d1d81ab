import { DirectoryError, parseJson, type ReplyLine, readCallerFrame, writeFrame } from '@switchboard/protocol'
import type { WebSocket } from 'ws'
import type { InvocationResult } from '../../services/calls/response/invocation-result.js'
import { type CallFrame, errorFrame, resultFrame } from './call-frame.js'
import { heartbeats, SILENCE } from './heartbeats.js'
import { jsonOf, sendLine } from './send-line.js'

/** Most concurrent calls on one socket. */
const MAX_CALLS = 32
/** Milliseconds without a call after which a socket is closed. */
const IDLE_MS = 120_000
/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001

export interface FramesOptions {
  readonly call: (frame: CallFrame, signal: AbortSignal) => Promise<InvocationResult>
  readonly heartbeatMs: number
  /** Whether the server is stopping: no more calls are accepted. */
  readonly isClosing: () => boolean
  /** Called with the number of calls in progress whenever it changes. */
  readonly onCalls: (count: number) => void
}

/** Serves many calls over one socket; replies carry the id of their call and may come in any order (AURI §8). */
export async function serveFrames(
  socket: WebSocket,
  first: CallFrame,
  lines: AsyncIterable<string>,
  options: FramesOptions,
): Promise<void> {
  const { call, heartbeatMs, isClosing, onCalls } = options
  const inProgress = new Map<string, AbortController>()
  const idle = setTimeout(() => inProgress.size === 0 && socket.close(GOING_AWAY, 'no call in time'), IDLE_MS)
  const send = (frame: ReplyLine): Promise<void> => sendLine(socket, writeFrame(frame))

  const respond = async ({ id }: CallFrame, result: InvocationResult): Promise<void> => {
    if (result.kind !== 'stream') return send(resultFrame(id, result, await jsonOf(result)))
    for await (const part of heartbeats(result.parts, heartbeatMs)) {
      if (part === SILENCE) socket.ping()
      else await send({ id, data: part.data, ...(part.event !== undefined && { event: part.event }) })
    }
    await send({ id, done: true })
  }
  const run = async (frame: CallFrame, controller: AbortController): Promise<void> => {
    try {
      await respond(frame, await call(frame, controller.signal))
    } catch (error) {
      // Nobody waits for the reply to a cancelled call.
      if (!controller.signal.aborted) await send(errorFrame(frame.id, error))
      if (!(error instanceof DirectoryError)) throw error
    }
  }
  const begin = async (frame: CallFrame): Promise<void> => {
    const key = String(frame.id)
    if (inProgress.has(key))
      return send(errorFrame(frame.id, new DirectoryError('conflict', 'a call with this id is in progress')))
    if (inProgress.size >= MAX_CALLS || isClosing()) {
      const why = isClosing() ? 'the directory is stopping' : `${MAX_CALLS} calls are in progress on this socket`
      return send(errorFrame(frame.id, new DirectoryError('unavailable', `${why}: try again later`)))
    }
    const controller = new AbortController()
    inProgress.set(key, controller)
    onCalls(inProgress.size)
    run(frame, controller)
      .catch((error: unknown) => socket.emit('error', error))
      .finally(() => {
        inProgress.delete(key)
        onCalls(inProgress.size)
        if (socket.readyState === socket.OPEN) idle.refresh()
        if (isClosing() && inProgress.size === 0) socket.close(GOING_AWAY)
      })
  }

  try {
    await begin(first)
    for await (const text of lines) {
      const frame = readCallerFrame(parseJson(text))
      if (!frame) throw new DirectoryError('invalid_request', 'each line must be a frame: {"id": …, "input": …}')
      if (frame.kind === 'cancel') inProgress.get(String(frame.id))?.abort()
      else await begin(frame)
    }
  } finally {
    clearTimeout(idle)
    for (const controller of inProgress.values()) controller.abort()
  }
}
