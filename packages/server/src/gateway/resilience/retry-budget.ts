/** Limits the retries over all agents. */
export interface RetryBudget {
  /** Adds the share of one call. */
  earn(): void
  /** Takes one retry from the budget; false if it is used up. */
  take(): boolean
}

/** Retries at the start, for a gateway with few calls, and the most that can be saved up. */
const INITIAL = 10
const MAX = 100

/** A token bucket that calls fill: if everything fails at once, only this share of the calls is retried. */
export function createRetryBudget(share: number): RetryBudget {
  let left = INITIAL
  return {
    earn() {
      left = Math.min(MAX, left + share)
    },
    take() {
      if (left < 1) return false
      left--
      return true
    },
  }
}
