import { GatewayError } from '../gateway.js'

/** Limits concurrent calls. */
export interface ConcurrencyLimit {
  /** Takes a slot and returns the function that frees it; throws `busy` if there is none. */
  acquire(agent: string): () => void
  readonly size: number
}

/** Seconds; slots are freed all the time, so it is worth trying again soon. */
const RETRY_AFTER = 1

/** Limits the calls to each agent, so that a slow one does not take all slots, and the calls in total. */
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
    acquire(agent) {
      const count = counts.get(agent) ?? 0
      if (count >= maxCallsPerAgent) throw busy(`the agent already has ${count} concurrent calls`)
      if (size >= maxCalls) throw busy(`the gateway already has ${size} concurrent calls`)
      counts.set(agent, count + 1)
      size++
      let isFree = false
      return () => {
        if (isFree) return
        isFree = true
        size--
        const left = (counts.get(agent) ?? 1) - 1
        if (left === 0) counts.delete(agent)
        else counts.set(agent, left)
      }
    },
  }
}

const busy = (message: string): GatewayError => new GatewayError('busy', message, { retryAfter: RETRY_AFTER })
