/** An agent and its score. */
export interface Scored {
  readonly number: number
  readonly score: number
}

/** Sorts best first, ties in registration order, so that pages are stable. */
export const byScore = (a: Scored, b: Scored): number => b.score - a.score || a.number - b.number
