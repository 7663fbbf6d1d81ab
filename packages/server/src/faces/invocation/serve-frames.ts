import {
  DirectoryError,
  eachPart,
  type FrameId,
  parseJson,
  type ReplyLine,
  readCallerFrame,
  writeFrame,
} from '@switchboard/protocol'
import type { WebSocket } from 'ws'
import type { InvocationResult } from '../../services/calls/response/invocation-result.js'
import { type CallFrame, errorFrame, resultFrame } from './call-frame.js'
import { heartbeats, SILENCE } from './heartbeats.js'
import type { SocketLines } from './read-lines.js'
import { jsonOf, sendLine } from './send-line.js'

/** Most concurrent calls on one socket. */
const MAX_CALLS = 32
/** Milliseconds without a call after which a socket is closed. */
const IDLE_MS = 120_000
/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001

export interface FramesOptions {
  readonly call: (frame: CallFrame, signal: AbortSignal) => Promise<InvocationResult>
  /** Most JSON values of a frame. */
  readonly maxInputValues: number
  readonly heartbeatMs: number
  /** Whether the server is stopping: no more calls are accepted. */
  readonly isClosing: () => boolean
  /** Called with the number of calls in progress whenever it changes. */
  readonly onCalls: (count: number) => void
}

/** Many calls over one socket; replies carry the id of their call and may come in any order (AURI §8). */
export interface FrameCalls {
  /** Begins the call of a frame, or sends why it cannot begin. */
  begin(frame: CallFrame): Promise<void>
  /** Begins the calls of all frames that arrive, until the socket closes. */
  serve(lines: SocketLines): Promise<void>
  /** Cancels the calls in progress. */
  stop(): void
}

export function createFrameCalls(socket: WebSocket, options: FramesOptions): FrameCalls {
  const { call, maxInputValues: maxValues, heartbeatMs, isClosing, onCalls } = options
  const inProgress = new Map<string, AbortController>()
  /** Not started before the first frame: a socket with a bare input is never idle. */
  let idle: NodeJS.Timeout | undefined
  const send = (frame: ReplyLine): Promise<void> => sendLine(socket, writeFrame(frame))

  const respond = async (id: FrameId, result: InvocationResult): Promise<void> => {
    if (result.kind !== 'stream') return send(resultFrame(id, result, await jsonOf(result)))
    for await (const part of heartbeats(eachPart(result.batches), heartbeatMs)) {
      if (part === SILENCE) socket.ping()
      else await send({ id, data: part.data, ...(part.event !== undefined && { event: part.event }) })
    }
    await send({ id, done: true })
  }
  /** Gets no frame, whose input would be kept until the last part of the response. */
  const run = async (id: FrameId, calling: Promise<InvocationResult>, controller: AbortController): Promise<void> => {
    try {
      await respond(id, await calling)
    } catch (error) {
      // Nobody waits for the reply to a cancelled call.
      if (!controller.signal.aborted) await send(errorFrame(id, error))
      if (!(error instanceof DirectoryError)) throw error
    }
  }
  const begin = async (frame: CallFrame): Promise<void> => {
    idle ??= setTimeout(() => inProgress.size === 0 && socket.close(GOING_AWAY, 'no call in time'), IDLE_MS)
    const { id } = frame
    const key = String(id)
    if (inProgress.has(key))
      return send(errorFrame(id, new DirectoryError('conflict', 'a call with this id is in progress')))
    if (inProgress.size >= MAX_CALLS || isClosing()) {
      const why = isClosing() ? 'the directory is stopping' : `${MAX_CALLS} calls are in progress on this socket`
      return send(errorFrame(id, new DirectoryError('unavailable', `${why}: try again later`)))
    }
    const controller = new AbortController()
    inProgress.set(key, controller)
    onCalls(inProgress.size)
    watch(key, run(id, call(frame, controller.signal), controller))
  }
  /** Notes the end of a call; separate from `begin`, so that its functions do not keep the frame. */
  const watch = (key: string, running: Promise<void>): void => {
    running
      .catch((error: unknown) => socket.emit('error', error))
      .finally(() => {
        inProgress.delete(key)
        onCalls(inProgress.size)
        if (socket.readyState === socket.OPEN) idle?.refresh()
        if (isClosing() && inProgress.size === 0) socket.close(GOING_AWAY)
      })
  }

  /** Handles the next line; false if there is none. What it has read is released when it returns. */
  const takeLine = async (lines: SocketLines): Promise<boolean> => {
    const text = await lines.next()
    if (text === undefined) return false
    const frame = readCallerFrame(parseJson(text, { maxValues }))
    if (!frame) throw new DirectoryError('invalid_request', 'each line must be a frame: {"id": …, "input": …}')
    if (frame.kind === 'cancel') inProgress.get(String(frame.id))?.abort()
    else await begin(frame)
    return true
  }

  return {
    begin,
    async serve(lines) {
      for (let isOpen = true; isOpen; ) isOpen = await takeLine(lines)
    },
    stop() {
      clearTimeout(idle)
      for (const controller of inProgress.values()) controller.abort()
    },
  }
}
