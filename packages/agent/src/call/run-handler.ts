import { setImmediate } from 'node:timers/promises'
import { ClientError } from '@switchboard/client'
import type { JsonValue } from '@switchboard/protocol'
import { AgentError } from '../errors.js'

/** Characters that the collected parts of a stream may have, for a caller who wants the whole. */
export const MAX_COLLECTED = 16 * 1024 * 1024

/** Milliseconds that a handler may go on giving parts without waiting for anything; then all others have their turn. */
const MAX_BUSY_MS = 10

export const isParts = (result: unknown): result is AsyncIterable<unknown> =>
  typeof result === 'object' && result !== null && Symbol.asyncIterator in result

/** Parts one by one; each is given only so much time, and leaving early ends the handler's generator. */
export async function* readParts(
  source: AsyncIterable<unknown>,
  limit: TimeLimit,
): AsyncGenerator<JsonValue, JsonValue | undefined, undefined> {
  const items = source[Symbol.asyncIterator]()
  let isOver = false
  let lastPause = performance.now()
  try {
    for (;;) {
      const item = await limit.race(items.next())
      if (item.done) {
        isOver = true
        return item.value === undefined ? undefined : toJson(item.value)
      }
      yield toJson(item.value)
      if (performance.now() - lastPause > MAX_BUSY_MS) {
        await setImmediate()
        lastPause = performance.now()
      }
    }
  } catch (error) {
    isOver = error !== limit.reason
    throw error
  } finally {
    // Not waited for: the generator may be in the middle of a wait, which the signal ends.
    if (!isOver) Promise.resolve(items.return?.()).catch(() => {})
  }
}

/** The whole of a stream: what its generator returns, else the list of its parts. */
export async function collectParts(
  parts: AsyncGenerator<JsonValue, JsonValue | undefined, undefined>,
): Promise<JsonValue> {
  const collected: JsonValue[] = []
  let size = 0
  for (;;) {
    const { done, value } = await parts.next()
    if (done) return value ?? collected
    size += JSON.stringify(value).length
    if (size > MAX_COLLECTED) {
      await parts.return(undefined)
      throw new AgentError('payload_too_large', 'the answer is too large to be given whole: ask for a stream')
    }
    collected.push(value)
  }
}

/** What JSON makes of a handler's value; no value is null. */
export function toJson(value: unknown): JsonValue {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw new AgentError('internal_error', 'the agent gave an answer that is no JSON', { cause })
  }
  return text === undefined ? null : JSON.parse(text)
}

/** Time that the handler has, for the answer or for each part of it. */
export interface TimeLimit {
  /** Ends when the time is over, or the caller has gone. */
  readonly signal: AbortSignal
  /** Why it ended. */
  readonly reason: unknown
  /** The result, or the reason as soon as there is one: a handler that ignores its signal holds nobody up. */
  race<T>(work: Promise<T> | T): Promise<T>
  clear(): void
}

export function createTimeLimit(ms: number, outer: AbortSignal): TimeLimit {
  const controller = new AbortController()
  const { signal } = controller
  const expire = (): void =>
    controller.abort(new AgentError('timeout', `the agent did not answer within ${ms} milliseconds`))
  let timer = setTimeout(expire, ms)
  const leave = (): void => controller.abort(outer.reason)
  if (outer.aborted) leave()
  else outer.addEventListener('abort', leave, { once: true })
  return {
    signal,
    get reason() {
      return signal.reason
    },
    async race(work) {
      clearTimeout(timer)
      timer = setTimeout(expire, ms)
      let onAbort: (() => void) | undefined
      const ended = new Promise<never>((_, reject) => {
        onAbort = () => reject(signal.reason)
        if (signal.aborted) onAbort()
        else signal.addEventListener('abort', onAbort, { once: true })
      })
      try {
        return await Promise.race([work, ended])
      } finally {
        if (onAbort) signal.removeEventListener('abort', onAbort)
        // Between two parts it is the reader who takes the time.
        clearTimeout(timer)
      }
    },
    clear() {
      clearTimeout(timer)
      outer.removeEventListener('abort', leave)
    },
  }
}

/** A composite whose inner call fails has failed (AIDIP §5.2): its caller learns that, and not what was said inside. */
export function fromInnerCall(error: unknown): unknown {
  if (!(error instanceof ClientError)) return error
  const code = error.code === 'timeout' ? 'timeout' : 'agent_error'
  return new AgentError(code, `an agent that this one calls failed: ${error.code}`, { cause: error })
}
