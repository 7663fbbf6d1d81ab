import { createMessageLines, type ReplyFrame, readReply, writeFrame } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Call } from '../call.js'
import type { Deadline } from '../deadline.js'
import { readJsonText } from '../read-body.js'
import { FrameQueue } from './frame-queue.js'
import { requestFrame } from './frames.js'
import type { OpenSocket, TextSocket } from './open-socket.js'

/** Unread characters at which the socket is paused, resumed, and the call fails. */
const PAUSE_LENGTH = 1024 * 1024
const RESUME_LENGTH = PAUSE_LENGTH / 4
const OVERFLOW_LENGTH = 16 * 1024 * 1024

/** A socket shared by many calls. */
export interface CallSocket {
  readonly isClosed: boolean
  /** Calls in progress. */
  readonly size: number
  /** Sends the request and yields the frames of the reply. Stopping early cancels the call. */
  start(call: Call, wantsStream: boolean, deadline: Deadline): AsyncGenerator<ReplyFrame, void, undefined>
  close(): void
}

interface OpenCall {
  readonly queue: FrameQueue<ReplyFrame>
  readonly maxPartLength: number
  /** The last line was bare: the agent does not use frames. */
  isBare: boolean
}

interface OpenCallSocket {
  readonly open: OpenSocket
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly maxBytes: number
  readonly deadline: Deadline
  /** Called when the last call ends, and when the socket closes. */
  readonly onIdle: () => void
}

/** Opens a socket that multiplexes calls by their ids. */
export async function openCallSocket(options: OpenCallSocket): Promise<CallSocket> {
  const { open, url, headers, maxBytes, deadline, onIdle } = options
  const calls = new Map<string, OpenCall>()
  const lines = createMessageLines(maxBytes, () => {
    throw new ClientError('too_large', `a line has more than ${maxBytes} characters`)
  })
  let socket: TextSocket | undefined
  let lastId = 0
  let isClosed = false

  const endAll = (errorFor: (call: OpenCall) => ClientError | undefined): void => {
    isClosed = true
    for (const call of calls.values()) call.queue.end(errorFor(call))
    onIdle()
  }
  const fail = (error: ClientError): void => {
    endAll(() => error)
    socket?.close()
  }
  const applyBackpressure = (): void => {
    const waiting = Math.max(0, ...Array.from(calls.values(), ({ queue }) => queue.waiting))
    if (waiting > PAUSE_LENGTH) socket?.pause?.()
    else if (waiting < RESUME_LENGTH) socket?.resume?.()
  }
  const deliver = (text: string): void => {
    const { id, isForeign, frame } = readReply(readJsonText(text, 'a line of the socket'), (known) => calls.has(known))
    const call = id === undefined ? (isForeign ? undefined : onlyOne(calls)) : calls.get(id)
    // A late frame of a cancelled call.
    if (!call) return
    call.isBare = frame.kind === 'part' && frame.isBare
    if (frame.kind === 'part' && text.length > call.maxPartLength) {
      call.queue.end(new ClientError('too_large', `a part has more than ${call.maxPartLength} characters`))
    } else call.queue.push(frame, text.length)
    if (call.queue.waiting > OVERFLOW_LENGTH) {
      call.queue.end(
        new ClientError(
          'too_large',
          `more than ${OVERFLOW_LENGTH} characters of the stream are unread: read it faster`,
        ),
      )
    }
    applyBackpressure()
  }
  const deliverAll = (all: Iterable<string>): void => {
    try {
      for (const line of all) deliver(line)
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      fail(error)
    }
  }
  const onText = (text: string): void => {
    if (!isClosed) deliverAll(lines.push(text))
  }
  const onClose = (code: number): void => {
    const last = lines.end()
    if (last !== undefined && !isClosed) deliverAll([last])
    const isCleanClose = code === 1000 || code === 1005
    const broken = new ClientError('unreachable', `the socket closed before the reply was complete (${code})`)
    // An agent without frames ends its reply by closing; any other has sent no end.
    endAll(({ isBare }) => (isCleanClose && isBare ? undefined : broken))
  }
  socket = await open({ url, headers, maxBytes, deadline, events: { onText, onClose, onError: fail } })
  const opened = socket

  return {
    get isClosed() {
      return isClosed
    },
    get size() {
      return calls.size
    },
    async *start(call, wantsStream, callDeadline) {
      const id = String(++lastId)
      const request = requestFrame(id, call, wantsStream)
      const queue = new FrameQueue<ReplyFrame>(applyBackpressure)
      let isEnded = false
      calls.set(id, { queue, isBare: false, maxPartLength: call.limits.maxPartLength })
      try {
        if (isClosed) throw new ClientError('closed', 'the socket is closed')
        opened.send(writeFrame(request))
        for (;;) {
          const frame = await queue.next(callDeadline)
          isEnded = frame === undefined || frame.kind !== 'part'
          if (frame === undefined) return
          yield frame
          if (isEnded) return
        }
      } finally {
        calls.delete(id)
        if (!isEnded && !isClosed) opened.send(writeFrame({ id, cancel: true }))
        applyBackpressure()
        if (calls.size === 0) onIdle()
      }
    },
    close() {
      isClosed = true
      opened.close()
    },
  }
}

/** A line without an id can only belong to the one call on the socket. */
const onlyOne = (calls: ReadonlyMap<string, OpenCall>): OpenCall | undefined =>
  calls.size === 1 ? calls.values().next().value : undefined
