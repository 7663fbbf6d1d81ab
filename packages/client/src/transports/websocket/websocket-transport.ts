import type { ReplyFrame, StreamPart } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Call, Transport } from '../call.js'
import { credentialHeader } from '../credential.js'
import { createDeadline, type Deadline } from '../deadline.js'
import { type RetryPolicy, withRetries } from '../retry.js'
import { type CallSocket, openCallSocket } from './call-socket.js'
import { toError, toPart, toReply } from './frames.js'
import type { OpenSocket } from './open-socket.js'

/** Time in ms that a socket without calls stays open. */
const IDLE_MS = 5000
/** Maximum number of shared sockets; beyond that each call opens its own. */
const MAX_SOCKETS = 100

export interface WebSocketOptions {
  readonly open: OpenSocket
  readonly retry: RetryPolicy
}

/**
 * Calls over WebSockets (AURI §8): one socket for each agent and credential, shared by its calls. The next call
 * replaces a broken socket; a call in progress is retried only if it is repeatable and nothing of its reply has arrived.
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
    const discard = (socket: CallSocket | undefined): void => {
      clearTimeout(timer)
      if (sockets.get(key) === opening) sockets.delete(key)
      socket?.close()
    }
    let current: CallSocket | undefined
    const onIdle = (): void => {
      clearTimeout(timer)
      if (current?.isClosed) discard(undefined)
      else timer = setTimeout(() => current?.size === 0 && discard(current), IDLE_MS)
    }
    const opening = openCallSocket({ open, url: call.url, headers, maxBytes: call.limits.maxBytes, deadline, onIdle })
    if (sockets.size < MAX_SOCKETS) sockets.set(key, opening)
    try {
      current = await opening
      return current
    } catch (error) {
      discard(undefined)
      throw error
    }
  }

  /** The first frame and those after it; if this fails, no part of the reply has arrived. */
  const begin = (call: Call, wantsStream: boolean, deadline: Deadline): Promise<StartedReply> => {
    const isRepeatable = call.repeatable || call.identifiers.idempotencyKey !== undefined
    return withRetries(retry, isRepeatable, deadline, async () => {
      const socket = await socketFor(call, deadline)
      const frames = socket.start(call, wantsStream, deadline)
      const first = await frames.next()
      if (first.done) throw new ClientError('unreachable', 'the agent closed the socket without a reply')
      if (first.value.kind === 'error') throw toError(first.value)
      return { first: first.value, frames }
    })
  }

  return {
    async invoke(call) {
      const deadline = createDeadline(call.limits.timeoutMs, `the call of ${call.uri}`, call.signal)
      try {
        const { first, frames } = await begin(call, false, deadline)
        await frames.return()
        // A bare line may be the whole output: without a request for a stream it is taken as such.
        if (first.kind === 'part' && !first.isBare) {
          throw new ClientError('bad_response', `${call.uri} responded with a stream: use streamAgent`)
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

interface StartedReply {
  readonly first: ReplyFrame
  readonly frames: AsyncGenerator<ReplyFrame, void, undefined>
}

async function* readParts(
  first: ReplyFrame,
  frames: AsyncGenerator<ReplyFrame, void, undefined>,
  { limits }: Call,
  deadline: Deadline,
): AsyncGenerator<StreamPart, void, undefined> {
  try {
    for (let frame: ReplyFrame | undefined = first; frame !== undefined; ) {
      if (frame.kind === 'error') throw toError(frame)
      // The idle timeout does not run while the reader handles a part.
      deadline.pause()
      if (frame.kind !== 'end') yield toPart(frame)
      if (frame.kind !== 'part') return
      deadline.extend(limits.silenceMs)
      const next: IteratorResult<ReplyFrame, void> = await frames.next()
      frame = next.done ? undefined : next.value
    }
  } finally {
    // If the reader stops at the first part, the loop above has not consumed `frames` to its end.
    await frames.return()
  }
}
