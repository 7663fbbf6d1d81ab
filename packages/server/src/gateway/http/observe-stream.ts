import { finished } from 'node:stream'
import type { AgentResponse } from '../gateway.js'

/** What to run when the reading of a stream ends. */
export interface StreamHooks {
  /** The reader stops early. Runs before the source is closed, so that it can end a read that is still pending. */
  readonly onCancel?: () => void | Promise<void>
  /** The stream ended, failed or was cancelled. Runs once. */
  readonly onEnd?: (error?: unknown) => void
}

/**
 * Iterates over a stream and runs the hooks. A `finally` in a generator is not enough: it does not run if the reader
 * stops before the first value, and only after a value that is still awaited.
 */
export function observeStream<T>(
  source: AsyncIterable<T>,
  { onCancel, onEnd }: StreamHooks,
): AsyncIterableIterator<T, undefined> {
  const inner = source[Symbol.asyncIterator]()
  let hasEnded = false
  const end = (error?: unknown): void => {
    if (hasEnded) return
    hasEnded = true
    onEnd?.(error)
  }
  const iterator: AsyncIterableIterator<T, undefined> = {
    async next() {
      try {
        const { done, value } = await inner.next()
        if (!done) return { done: false, value }
      } catch (error) {
        end(error)
        throw error
      }
      end()
      return { done: true, value: undefined }
    },
    async return() {
      try {
        await onCancel?.()
        await inner.return?.()
      } finally {
        end()
      }
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}

/** Calls `onEnd` once the response is complete: at once, or when its stream has ended, failed or was cancelled. */
export function onResponseEnd(response: AgentResponse, onEnd: (error?: unknown) => void): AgentResponse {
  if (response.kind === 'stream') return { ...response, batches: observeStream(response.batches, { onEnd }) }
  if (response.kind === 'bytes') finished(response.body, (error) => onEnd(error ?? undefined))
  else onEnd()
  return response
}
