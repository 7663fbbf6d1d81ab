/** The results of one directory, best first. */
export interface RankedList {
  /** How much its ranking counts, up to 1. */
  readonly weight: number
  readonly ids: readonly string[]
}

/** Reciprocal rank fusion: a larger constant lets lower ranks count more (Cormack et al., 2009). */
const RANK_CONSTANT = 60

/**
 * Scores of results of several directories, 0 to 1, by their ranks alone: scores of different directories cannot be
 * compared (C-49). First place in all lists is 1.
 */
export function fuseRanks(lists: readonly RankedList[]): Map<string, number> {
  const total = lists.reduce((sum, { weight }) => sum + weight, 0)
  const scores = new Map<string, number>()
  for (const { weight, ids } of lists) {
    ids.forEach((id, rank) => {
      const share = (weight * (RANK_CONSTANT + 1)) / (RANK_CONSTANT + 1 + rank) / total
      scores.set(id, (scores.get(id) ?? 0) + share)
    })
  }
  return scores
}
