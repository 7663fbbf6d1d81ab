/** How many retries there may be, over all agents. */
export interface RetryBudget {
  /** A call was made: it earns its share of a retry. */
  earn(): void
  /** Takes one retry, if there is one. */
  take(): boolean
}

/** Retries that a gateway with few calls has in hand, and the most that are saved up. */
const RESERVE = 10
const MOST = 100

/** A bucket that calls fill: when everything fails at once, only this share of it is asked again. */
export function createRetryBudget(share: number): RetryBudget {
  let left = RESERVE
  return {
    earn() {
      left = Math.min(MOST, left + share)
    },
    take() {
      if (left < 1) return false
      left--
      return true
    },
  }
}
