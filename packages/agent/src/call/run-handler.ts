import { setImmediate } from 'node:timers/promises'
import { ClientError } from '@switchboard/client'
import type { JsonValue } from '@switchboard/protocol'
import { AgentError } from '../errors.js'

/** Characters of all parts of a stream that are collected for a caller without streaming. */
export const MAX_COLLECTED = 16 * 1024 * 1024

/** Milliseconds that a handler may yield parts without pausing; then the event loop gets a turn. */
const MAX_BUSY_MS = 10

export const isParts = (result: unknown): result is AsyncIterable<unknown> =>
  typeof result === 'object' && result !== null && Symbol.asyncIterator in result

/** Reads parts within the time limit of each; returning early ends the handler's generator. */
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
    // Not awaited: the generator may be waiting for something that only the signal ends.
    if (!isOver) Promise.resolve(items.return?.()).catch(() => {})
  }
}

/** The whole result of a stream: what its generator returns, or else the list of its parts. */
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
      throw new AgentError('payload_too_large', 'the result is too large to send at once: request a stream')
    }
    collected.push(value)
  }
}

/** The handler's value as JSON; `undefined` becomes null. */
export function toJson(value: unknown): JsonValue {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw new AgentError('internal_error', 'the handler returned a value that is not JSON', { cause })
  }
  return text === undefined ? null : JSON.parse(text)
}

/** The time limit of a handler, for its result or for each part of it. */
export interface TimeLimit {
  /** Aborts when the time is up or the caller disconnects. */
  readonly signal: AbortSignal
  /** Why the signal aborted. */
  readonly reason: unknown
  /** Rejects with the reason as soon as the signal aborts, even if the handler ignores it. */
  race<T>(work: Promise<T> | T): Promise<T>
  clear(): void
}

export function createTimeLimit(ms: number, outer: AbortSignal): TimeLimit {
  const controller = new AbortController()
  const { signal } = controller
  const expire = (): void =>
    controller.abort(new AgentError('timeout', `the agent did not respond within ${ms} milliseconds`))
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
        // Between two parts the time is spent by the reader, not the handler.
        clearTimeout(timer)
      }
    },
    clear() {
      clearTimeout(timer)
      outer.removeEventListener('abort', leave)
    },
  }
}

/** Hides the details of a failed call to another agent; the caller only learns its code (AIDIP §5.2). */
export function fromInnerCall(error: unknown): unknown {
  if (!(error instanceof ClientError)) return error
  const code = error.code === 'timeout' ? 'timeout' : 'agent_error'
  return new AgentError(code, `a call to another agent failed: ${error.code}`, { cause: error })
}
