import { ClientError } from '../../errors.js'
import type { Call, Reply, StreamPart, Transport } from '../call.js'
import { credentialHeader } from '../credential.js'
import { createDeadline, type Deadline } from '../deadline.js'
import { type RetryPolicy, withRetries } from '../retry.js'
import { type CallSocket, openCallSocket } from './call-socket.js'
import type { Frame } from './frames.js'
import type { OpenSocket } from './open-socket.js'

/** Milliseconds that a socket stays open when no call is left on it. */
const IDLE_MS = 5000
/** Sockets that are kept; beyond it each call opens its own. */
const MAX_SOCKETS = 100

export interface WebSocketOptions {
  readonly open: OpenSocket
  readonly retry: RetryPolicy
}

/**
 * Calls over WebSockets (AURI §8): one socket an agent and credential, shared by all its calls. A socket that broke is
 * replaced by the next call; a call that was under way is sent again only if that does no harm and nothing of its
 * answer had come.
 */
export function createWebSocketTransport({ open, retry }: WebSocketOptions): Transport {
  const sockets = new Map<string, Promise<CallSocket>>()

  const socketFor = async (call: Call, deadline: Deadline): Promise<CallSocket> => {
    const headers = credentialHeader(call.credential)
    const key = `${call.url} ${JSON.stringify(headers)}`
    const shared = sockets.get(key)?.catch(() => undefined)
    const known = shared && (await deadline.race(shared))
    if (known && !known.isClosed) return known
    let timer: ReturnType<typeof setTimeout> | undefined
    const forget = (socket: CallSocket | undefined): void => {
      clearTimeout(timer)
      if (sockets.get(key) === opening) sockets.delete(key)
      socket?.close()
    }
    let current: CallSocket | undefined
    const onIdle = (): void => {
      clearTimeout(timer)
      if (current?.isClosed) forget(undefined)
      else timer = setTimeout(() => current?.size === 0 && forget(current), IDLE_MS)
    }
    const opening = openCallSocket({ open, url: call.url, headers, maxBytes: call.limits.maxBytes, deadline, onIdle })
    if (sockets.size < MAX_SOCKETS) sockets.set(key, opening)
    try {
      current = await opening
      return current
    } catch (error) {
      forget(undefined)
      throw error
    }
  }

  /** The first frame and those after it; nothing has come when this fails. */
  const begin = (call: Call, wantsStream: boolean, deadline: Deadline): Promise<Begun> => {
    const isRepeatable = call.repeatable || call.identifiers.idempotencyKey !== undefined
    return withRetries(retry, isRepeatable, deadline, async () => {
      const socket = await socketFor(call, deadline)
      const frames = socket.start(call, wantsStream, deadline)
      const first = await frames.next()
      if (first.done) throw new ClientError('unreachable', 'the agent closed the socket without an answer')
      if (first.value.kind === 'error') throw first.value.error
      return { first: first.value, frames }
    })
  }

  return {
    async invoke(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the call of ${call.uri}`, call.signal)
      try {
        const { first, frames } = await begin(call, false, deadline)
        await frames.return()
        // A bare line cannot be told from a whole answer: who did not ask for a stream gets it as one.
        if (first.kind === 'part' && !first.isBare) {
          throw new ClientError('bad_response', `${call.uri} answers with a stream: use streamAgent`)
        }
        return toReply(first, call)
      } finally {
        deadline.clear()
      }
    },
    async *stream(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the stream of ${call.uri}`, call.signal)
      try {
        const { first, frames } = await begin(call, true, deadline)
        yield* readParts(first, frames, call, deadline)
      } finally {
        deadline.clear()
      }
    },
    async close() {
      const all = [...sockets.values()]
      sockets.clear()
      for (const socket of await Promise.allSettled(all)) if (socket.status === 'fulfilled') socket.value.close()
    },
  }
}

interface Begun {
  readonly first: Frame
  readonly frames: AsyncGenerator<Frame, void, undefined>
}

function toReply(frame: Frame, { identifiers }: Call): Reply {
  const { sessionId, taskId, requestId } = identifiers
  const output = frame.kind === 'result' ? frame.value : frame.kind === 'part' ? frame.part.data : null
  return {
    output,
    contentType: 'application/json',
    status: 200,
    trusted: false,
    ...(frame.kind === 'result' && frame.version !== undefined && { version: frame.version }),
    ...(sessionId !== undefined && { sessionId }),
    ...(taskId !== undefined && { taskId }),
    ...(requestId !== undefined && { requestId }),
    warnings: [],
  }
}

async function* readParts(
  first: Frame,
  frames: AsyncGenerator<Frame, void, undefined>,
  { limits }: Call,
  deadline: Deadline,
): AsyncGenerator<StreamPart, void, undefined> {
  try {
    for (let frame: Frame | undefined = first; frame !== undefined; ) {
      if (frame.kind === 'error') throw frame.error
      // The time that the reader takes counts for nothing.
      deadline.pause()
      if (frame.kind === 'part') yield frame.part
      else if (frame.kind === 'result') yield { data: frame.value }
      if (frame.kind !== 'part') return
      deadline.extend(limits.silenceMs)
      const next: IteratorResult<Frame, void> = await frames.next()
      frame = next.done ? undefined : next.value
    }
  } finally {
    // Not done by the loop if the stream is left at its first part.
    await frames.return()
  }
}
