/** Which page of a list without text. */
export interface ListOptions {
  /** `name`: alphabetical, by the names as the view shows them; `registration`: oldest first; `newest`: the reverse. */
  readonly order: 'registration' | 'name' | 'newest'
  readonly skip: number
  readonly take: number
  /** False: stop after the page, so that `total` only tells whether there are more. */
  readonly exactTotal: boolean
}

/** One page of a list. */
export interface ListedPage<T> {
  readonly agents: readonly T[]
  /** Number of matches on all pages; without `exactTotal` a lower bound, which is above the page's end if there are more. */
  readonly total: number
}

/**
 * Cuts a page out of agents in order, checking no more of them than necessary.
 *
 * @param total the number of matches if it is known; otherwise they are counted
 */
export function cutPage<T>(
  candidates: Iterable<T>,
  accept: (agent: T) => boolean,
  { skip, take, exactTotal }: ListOptions,
  total?: number,
): ListedPage<T> {
  const end = skip + take
  // One more than the page tells whether there is another.
  const enough = total !== undefined ? Math.min(end, total) : exactTotal ? Number.POSITIVE_INFINITY : end + 1
  const agents: T[] = []
  let found = 0
  if (total === undefined || skip < total) {
    for (const agent of candidates) {
      if (found >= enough) break
      if (!accept(agent)) continue
      found++
      if (found > skip && found <= end) agents.push(agent)
    }
  }
  return { agents, total: total ?? found }
}
