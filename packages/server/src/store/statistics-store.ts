/** Outcomes of calls, in counters that decay, and ratings by callers. */
export interface StatisticsStore {
  /**
   * Adds to counters, at most one entry for each; counters of an earlier owner of the name are dropped. Counters halve
   * every `halfLife` milliseconds, so that counts of several processes add up.
   */
  add(counts: readonly StoredCounts[], halfLife: number): Promise<void>
  /** Counters that changed at this time or later. */
  since(at: number): Promise<StoredCounts[]>

  /** Stores the subject's rating of the agent in place of an earlier one; returns the new totals. */
  rate(rating: StoredRating): Promise<RatingTotals>
  /** Totals of the agents that were rated at this time or later. */
  ratingsSince(at: number): Promise<RatingTotals[]>
}

/** Counters of one operation of an agent, as of `at`. */
export interface StoredCounts {
  agent: string
  /** The agent's owner at that time: a later owner of the name inherits nothing. */
  owner: string
  operation: string
  at: number
  calls: number
  failures: number
  /** Total duration of the successful calls, in milliseconds. */
  ms: number
}

export interface StoredRating {
  agent: string
  owner: string
  subject: string
  /** 1 to 5. */
  rating: number
  comment?: string
  at: number
}

export interface RatingTotals {
  agent: string
  owner: string
  count: number
  sum: number
}

/** Adds two counters as of the later of their times; each decays from its own time until then. */
export function addDecayed(a: StoredCounts, b: StoredCounts, halfLife: number): StoredCounts {
  const at = Math.max(a.at, b.at)
  const remaining = ({ at: since }: StoredCounts): number => 0.5 ** ((at - since) / halfLife)
  const [ofA, ofB] = [remaining(a), remaining(b)]
  return {
    ...b,
    at,
    calls: a.calls * ofA + b.calls * ofB,
    failures: a.failures * ofA + b.failures * ofB,
    ms: a.ms * ofA + b.ms * ofB,
  }
}
