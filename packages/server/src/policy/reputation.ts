/** Statistics of an agent: outcomes of calls through the gateway, and ratings by callers. */
export interface Reputation {
  /** All calls, and failed ones; older calls count less. */
  readonly calls: number
  readonly failures: number
  /** Average latency of successful calls in milliseconds; undefined if there are none. */
  readonly latencyMs: number | undefined
  /** Number of ratings, and their average; undefined if there are none. */
  readonly ratings: number
  readonly rating: number | undefined
}

/** Maximum effect on a score, up or down: enough to decide between similar agents, not to hide one. */
const RANGE = 0.05
/** Shares of that range; they add up to 1. */
const SHARES = { success: 0.5, rating: 0.3, latency: 0.2 }
/** Weight of the neutral prior, in calls and in ratings: with that many, the evidence counts half. */
const PRIOR = { calls: 10, ratings: 5 }
/** Neutral success rate, and the distance from it that has the full effect. */
const SUCCESS = { middle: 0.8, reach: 0.2 }
/** Neutral latency in milliseconds, and how many doublings or halvings of it have the full effect. */
const LATENCY = { middle: 2000, doublings: 4 }
const RATING = { middle: 3, reach: 2 }

/** Factor of the score, from 0.95 to 1.05; 1 without any evidence. */
export function reputationFactor({ calls, failures, latencyMs, ratings, rating }: Reputation): number {
  const certainty = calls / (calls + PRIOR.calls)
  const success = calls > 0 ? clamp((1 - failures / calls - SUCCESS.middle) / SUCCESS.reach) : 0
  const latency =
    latencyMs === undefined ? 0 : clamp(Math.log2(LATENCY.middle / Math.max(1, latencyMs)) / LATENCY.doublings)
  const opinion = rating === undefined ? 0 : clamp((rating - RATING.middle) / RATING.reach)
  const effect =
    SHARES.success * success * certainty +
    SHARES.latency * latency * certainty +
    (SHARES.rating * opinion * ratings) / (ratings + PRIOR.ratings)
  return 1 + RANGE * effect
}

const clamp = (value: number): number => Math.max(-1, Math.min(1, value))
