/** Outcomes of calls and choices after searches, in counters that decay, and ratings by callers. */
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

  /** Adds to what callers chose after searches, at most one entry for each agent and term; decays like counters. */
  addChoices(choices: readonly StoredChoice[], halfLife: number): Promise<void>
  /** Choices that changed at this time or later. */
  choicesSince(at: number): Promise<StoredChoice[]>
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

/**
 * How often an agent was chosen after searches with a term, as of `at`. Names neither callers nor queries: one caller counts
 * at most once a day, and the term is a keyed hash.
 */
export interface StoredChoice {
  /** The agent's number: whoever registers its name later starts from zero. */
  number: number
  term: string
  at: number
  /** Times that it was listed, at the place of the chosen agent or before it. */
  shown: number
  /** Times that it was the chosen one: called afterwards with success, or rated well. */
  chosen: number
}

/** The most pairs of agent and term that are kept; beyond that, those shown least are dropped. */
export const MAX_CHOICES = 50_000

/** Adds two counters as of the later of their times; each decays from its own time until then. */
export function addDecayed(a: StoredCounts, b: StoredCounts, halfLife: number): StoredCounts {
  const { at, add } = decaying(a.at, b.at, halfLife)
  return {
    ...b,
    at,
    calls: add(a.calls, b.calls),
    failures: add(a.failures, b.failures),
    ms: add(a.ms, b.ms),
  }
}

/** The same for choices. */
export function addDecayedChoice(a: StoredChoice, b: StoredChoice, halfLife: number): StoredChoice {
  const { at, add } = decaying(a.at, b.at, halfLife)
  return { ...b, at, shown: add(a.shown, b.shown), chosen: add(a.chosen, b.chosen) }
}

function decaying(a: number, b: number, halfLife: number): { at: number; add: (x: number, y: number) => number } {
  const at = Math.max(a, b)
  const [ofA, ofB] = [0.5 ** ((at - a) / halfLife), 0.5 ** ((at - b) / halfLife)]
  return { at, add: (x, y) => x * ofA + y * ofB }
}
