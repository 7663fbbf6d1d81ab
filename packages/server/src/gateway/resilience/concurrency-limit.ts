import { GatewayError } from '../gateway.js'

/** Calls under way. */
export interface ConcurrencyLimit {
  /** Counts one more and returns how to count it out again; throws `busy` where there is no room. */
  enter(agent: string): () => void
  readonly size: number
}

/** Seconds: calls end all the time, so it is worth trying again soon. */
const RETRY_AFTER = 1

/** Bounds the calls under way: those of one agent, so that a slow one takes no room from others, and all together. */
export function createConcurrencyLimit({
  maxCalls,
  maxCallsPerAgent,
}: {
  maxCalls: number
  maxCallsPerAgent: number
}): ConcurrencyLimit {
  const counts = new Map<string, number>()
  let size = 0
  return {
    get size() {
      return size
    },
    enter(agent) {
      const count = counts.get(agent) ?? 0
      if (count >= maxCallsPerAgent) throw busy(`${count} calls of the agent are under endpoint`)
      if (size >= maxCalls) throw busy(`${size} calls are under endpoint`)
      counts.set(agent, count + 1)
      size++
      let isOut = false
      return () => {
        if (isOut) return
        isOut = true
        size--
        const left = (counts.get(agent) ?? 1) - 1
        if (left === 0) counts.delete(agent)
        else counts.set(agent, left)
      }
    },
  }
}

const busy = (message: string): GatewayError => new GatewayError('busy', message, { retryAfter: RETRY_AFTER })
