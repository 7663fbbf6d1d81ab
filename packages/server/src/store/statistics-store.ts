/** How calls of agents ended, in counters that fade, and what callers think of them. */
export interface StatisticsStore {
  /**
   * Adds to the counters, to each once, those of an earlier owner of the name being dropped. Stored counters are worth half of what
   * they were after each `halfLife` (milliseconds), so that the counts of several processes add up.
   */
  add(counts: readonly StoredCounts[], halfLife: number): Promise<void>
  /** Counters to which something was added at this time or later. */
  since(at: number): Promise<StoredCounts[]>

  /** One opinion of each subject on each agent: the latest. Returns what they all come to. */
  rate(rating: StoredRating): Promise<RatingTotals>
  /** Of the agents that were rated at this time or later. */
  ratingsSince(at: number): Promise<RatingTotals[]>
}

/** Counters of one operation of an agent, as they stood at `at`. */
export interface StoredCounts {
  agent: string
  /** Whose agent it was: a later owner of the name inherits nothing. */
  owner: string
  operation: string
  at: number
  calls: number
  failures: number
  /** Milliseconds of the calls that succeeded, added up. */
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
