/** What is known of an agent from calls that went through here, and from its callers. */
export interface Reputation {
  /** Calls and failed calls, faded. */
  readonly calls: number
  readonly failures: number
  /** Milliseconds of an answer, on average; undefined: no call has succeeded. */
  readonly latencyMs: number | undefined
  /** Opinions, and the average of them; undefined: none. */
  readonly ratings: number
  readonly rating: number | undefined
}

/** How far a reputation moves a score up or down: it decides among likes, and hides nobody. */
const RANGE = 0.05
/** Shares of that range; together 1. */
const SHARES = { success: 0.5, rating: 0.3, latency: 0.2 }
/** So many calls, or ratings, are worth as much as knowing nothing. */
const DOUBT = { calls: 10, ratings: 5 }
/** The share of calls that succeed where an agent is neither good nor bad, and how far from it is all the way. */
const SUCCESS = { middle: 0.8, reach: 0.2 }
/** Milliseconds that are neither fast nor slow, and how many doublings from there are all the way. */
const LATENCY = { middle: 2000, doublings: 4 }
const RATING = { middle: 3, reach: 2 }

/** What a score is multiplied by, from 0.95 to 1.05; 1 where nothing is known. */
export function reputationFactor({ calls, failures, latencyMs, ratings, rating }: Reputation): number {
  const certainty = calls / (calls + DOUBT.calls)
  const success = calls > 0 ? within((1 - failures / calls - SUCCESS.middle) / SUCCESS.reach) : 0
  const latency =
    latencyMs === undefined ? 0 : within(Math.log2(LATENCY.middle / Math.max(1, latencyMs)) / LATENCY.doublings)
  const liking = rating === undefined ? 0 : within((rating - RATING.middle) / RATING.reach)
  const moved =
    SHARES.success * success * certainty +
    SHARES.latency * latency * certainty +
    (SHARES.rating * liking * ratings) / (ratings + DOUBT.ratings)
  return 1 + RANGE * moved
}

/** The factor as evidence shows it: 0 the worst, 0.5 nothing known, 1 the best. */
export const reputationShare = (factor: number): number => (factor - 1) / (2 * RANGE) + 0.5

const within = (value: number): number => Math.max(-1, Math.min(1, value))
