import { finished } from 'node:stream'
import type { StreamPart } from '@switchboard/protocol'
import type { AgentResponse } from './gateway.js'

/**
 * Tells when an answer has ended: at once, or when its stream has been read to the end, broke off or was left. A call
 * is under way until then.
 */
export function onResponseEnd(answer: AgentResponse, onEnd: (error?: unknown) => void): AgentResponse {
  if (answer.kind === 'stream') return { ...answer, parts: { [Symbol.asyncIterator]: () => held(answer.parts, onEnd) } }
  if (answer.kind === 'bytes') finished(answer.body, (error) => onEnd(error ?? undefined))
  else onEnd()
  return answer
}

/** Not a generator: one that is left before it began would not tell. */
function held(
  parts: AsyncIterable<StreamPart>,
  onEnd: (error?: unknown) => void,
): AsyncIterator<StreamPart, undefined> {
  const inner = parts[Symbol.asyncIterator]()
  return {
    async next() {
      try {
        const result = await inner.next()
        if (!result.done) return result
        onEnd()
        return { done: true, value: undefined }
      } catch (error) {
        onEnd(error)
        throw error
      }
    },
    async return() {
      try {
        await inner.return?.()
      } finally {
        onEnd()
      }
      return { done: true, value: undefined }
    },
  }
}
