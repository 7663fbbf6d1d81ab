import { DirectoryError, type JsonObject, parseJson } from '@switchboard/protocol'
import type { WebSocket } from 'ws'
import type { Invoked } from '../../services/calls/request/invocation.js'
import { type CallFrame, failureOf, readCancel, readFrame, resultOf } from './call-frame.js'
import { heartbeats, SILENCE } from './heartbeats.js'
import { jsonOf, sendLine } from './send-line.js'

/** Calls under way on one socket. */
const MAX_CALLS = 32
/** Milliseconds without a call, after which a socket is closed. */
const IDLE_MS = 120_000
/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001

export interface FramesOptions {
  readonly call: (frame: CallFrame, signal: AbortSignal) => Promise<Invoked>
  readonly heartbeatMs: number
  /** No more calls are taken on. */
  readonly isClosing: () => boolean
  /** Told how many calls are under way. */
  readonly onCalls: (count: number) => void
}

/** Many calls over one socket, each answered under its id, in any order (AURI §8). */
export async function serveFrames(
  socket: WebSocket,
  first: CallFrame,
  lines: AsyncIterable<string>,
  options: FramesOptions,
): Promise<void> {
  const { call, heartbeatMs, isClosing, onCalls } = options
  const underWay = new Map<string, AbortController>()
  const idle = setTimeout(() => underWay.size === 0 && socket.close(GOING_AWAY, 'no call came'), IDLE_MS)
  const send = (id: CallFrame['id'], frame: JsonObject): Promise<void> =>
    sendLine(socket, `${JSON.stringify({ id, ...frame })}\n`)

  const answer = async ({ id }: CallFrame, invoked: Invoked): Promise<void> => {
    if (invoked.kind !== 'stream') return send(id, resultOf(invoked, await jsonOf(invoked)))
    for await (const part of heartbeats(invoked.parts, heartbeatMs)) {
      if (part === SILENCE) socket.ping()
      else await send(id, { data: part.data, ...(part.event !== undefined && { event: part.event }) })
    }
    await send(id, { done: true })
  }
  const run = async (frame: CallFrame, controller: AbortController): Promise<void> => {
    try {
      await answer(frame, await call(frame, controller.signal))
    } catch (error) {
      // Nobody waits for the answer of a call that was taken back.
      if (!controller.signal.aborted) await send(frame.id, failureOf(error))
      if (!(error instanceof DirectoryError)) throw error
    }
  }
  const begin = async (frame: CallFrame): Promise<void> => {
    const key = String(frame.id)
    if (underWay.has(key))
      return send(frame.id, failureOf(new DirectoryError('conflict', 'a call with this id is under way')))
    if (underWay.size >= MAX_CALLS || isClosing()) {
      const why = isClosing() ? 'the directory is stopping' : `${MAX_CALLS} calls are under way on this socket`
      return send(frame.id, failureOf(new DirectoryError('unavailable', `${why}: try again later`)))
    }
    const controller = new AbortController()
    underWay.set(key, controller)
    onCalls(underWay.size)
    run(frame, controller)
      .catch((error: unknown) => socket.emit('error', error))
      .finally(() => {
        underWay.delete(key)
        onCalls(underWay.size)
        if (socket.readyState === socket.OPEN) idle.refresh()
        if (isClosing() && underWay.size === 0) socket.close(GOING_AWAY)
      })
  }

  try {
    await begin(first)
    for await (const text of lines) {
      const line = parseJson(text)
      const frame = readFrame(line)
      const cancelled = readCancel(line)
      if (frame) await begin(frame)
      else if (cancelled !== undefined) underWay.get(cancelled)?.abort()
      else throw new DirectoryError('invalid_request', 'a line after the first must be {"id", "input", …} as it was')
    }
  } finally {
    clearTimeout(idle)
    for (const controller of underWay.values()) controller.abort()
  }
}
