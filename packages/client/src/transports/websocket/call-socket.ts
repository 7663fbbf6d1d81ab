import { DirectoryError, isObject, type JsonObject, type JsonValue, parseJson } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Call } from '../call.js'
import type { Deadline } from '../deadline.js'
import { FrameQueue } from '../frame-queue.js'
import { readJsonText } from '../read-body.js'
import { createLineSplitter } from '../split-lines.js'
import { callOf, type Frame, readBareLine, readFrame, requestFrame } from './frames.js'
import type { OpenSocket, TextSocket } from './open-socket.js'

/** Characters that may wait for a slow reader before the socket is no longer read, read again, and its call given up. */
const PAUSE_LENGTH = 1024 * 1024
const RESUME_LENGTH = PAUSE_LENGTH / 4
const GIVE_UP_LENGTH = 16 * 1024 * 1024

/** A socket that many calls share. */
export interface CallSocket {
  readonly isClosed: boolean
  /** Calls under way. */
  readonly size: number
  /** Sends the request; frames come until the call ends. Leaving early takes the request back. */
  start(call: Call, wantsStream: boolean, deadline: Deadline): AsyncGenerator<Frame, void, undefined>
  close(): void
}

interface OpenCall {
  readonly queue: FrameQueue<Frame>
  readonly maxPartLength: number
  /** The last line was one without a frame. */
  isBare: boolean
}

interface OpenCallSocket {
  readonly open: OpenSocket
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly maxBytes: number
  readonly deadline: Deadline
  /** No call is left on it, or it has closed. */
  readonly onIdle: () => void
}

/** Opens a socket and tells its calls apart by their ids. */
export async function openCallSocket(options: OpenCallSocket): Promise<CallSocket> {
  const { open, url, headers, maxBytes, deadline, onIdle } = options
  const calls = new Map<string, OpenCall>()
  const splitter = createLineSplitter(maxBytes)
  let socket: TextSocket | undefined
  let lastId = 0
  let isAtLineStart = true
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
  const settleFlow = (): void => {
    const waiting = Math.max(0, ...Array.from(calls.values(), ({ queue }) => queue.waiting))
    if (waiting > PAUSE_LENGTH) socket?.pause?.()
    else if (waiting < RESUME_LENGTH) socket?.resume?.()
  }
  const deliver = (text: string): void => {
    if (text.trim() === '') return
    const line = readJsonText(text, 'a line of the socket')
    const id = callOf(line, (known) => calls.has(known))
    const call = id === undefined ? (isFramed(line) ? undefined : onlyOne(calls)) : calls.get(id)
    // The rest of a call that was taken back meanwhile.
    if (!call) return
    const frame = id !== undefined && isObject(line) ? readFrame(line) : readBareLine(line)
    call.isBare = frame.kind === 'part' && frame.isBare
    if (frame.kind === 'part' && text.length > call.maxPartLength) {
      call.queue.end(new ClientError('too_large', `a part has more than ${call.maxPartLength} characters`))
    } else call.queue.push(frame, text.length)
    if (call.queue.waiting > GIVE_UP_LENGTH) {
      call.queue.end(new ClientError('too_large', 'the agent sends faster than it is read'))
    }
    settleFlow()
  }
  const onText = (text: string): void => {
    if (isClosed) return
    try {
      // Many agents send one value a message and no newline; one that does not end here goes on in the next message.
      const isWhole = isAtLineStart && !text.endsWith('\n') && isJson(text)
      for (const line of splitter.push(isWhole ? `${text}\n` : text)) deliver(line)
      if (text !== '') isAtLineStart = isWhole || text.endsWith('\n')
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      fail(error)
    }
  }
  const onClose = (code: number): void => {
    const isProper = code === 1000 || code === 1005
    const broken = new ClientError('unreachable', `the socket closed before the answer was complete (${code})`)
    // To those who know no frames, closing is the end; of all others the end is missing.
    endAll(({ isBare }) => (isProper && isBare ? undefined : broken))
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
      const queue = new FrameQueue<Frame>(settleFlow)
      let isEnded = false
      calls.set(id, { queue, isBare: false, maxPartLength: call.limits.maxPartLength })
      try {
        if (isClosed) throw new ClientError('closed', 'the socket is closed')
        opened.send(toLine(request))
        for (;;) {
          const frame = await queue.next(callDeadline)
          isEnded = frame === undefined || frame.kind !== 'part'
          if (frame === undefined) return
          yield frame
          if (isEnded) return
        }
      } finally {
        calls.delete(id)
        if (!isEnded && !isClosed) opened.send(toLine({ id, cancel: true }))
        settleFlow()
        if (calls.size === 0) onIdle()
      }
    },
    close() {
      isClosed = true
      opened.close()
    },
  }
}

const toLine = (frame: JsonObject): string => `${JSON.stringify(frame)}\n`

/** Lines without an id can only be meant for the one call that there is. */
const onlyOne = (calls: ReadonlyMap<string, OpenCall>): OpenCall | undefined =>
  calls.size === 1 ? calls.values().next().value : undefined

/** A line that is for a call, though not for one that is known. */
const isFramed = (line: JsonValue): boolean =>
  isObject(line) &&
  line.id !== undefined &&
  ['data', 'result', 'error', 'done'].some((name) => line[name] !== undefined)

function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text) || !/[}\]]\s*$/.test(text)) return false
  try {
    parseJson(text)
    return true
  } catch (error) {
    if (error instanceof DirectoryError) return false
    throw error
  }
}
