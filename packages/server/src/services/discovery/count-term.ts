import { type ArdTerm, ardValue } from '@switchboard/protocol'
import { waitForTurn } from '../../turns.js'
import type { Context } from '../context.js'
import type { Matches } from './find-matches.js'

/** A term of ARD's entries whose values are counted. */
export interface CountedTerm {
  readonly path: string
  readonly term: ArdTerm
  /** Values that are listed at most. */
  readonly limit: number
  /** Values of fewer entries are left out. */
  readonly minCount: number
}

/** The most frequent values, and how many entries the others have. */
export type TermCounts = {
  buckets: { value: string; count: number }[]
  otherCount?: number
}

/** Agents that are counted before others may use the event loop. */
const STEP = 500

/** Counts the values of a term. An entry counts once for each of its values. */
export async function countTerm(
  { catalog }: Pick<Context, 'catalog'>,
  matches: Matches['matches'],
  { path, term, limit, minCount }: CountedTerm,
): Promise<TermCounts> {
  /** By their comparable form; the first spelling is shown. */
  const counts = new Map<string, { readonly value: string; count: number }>()
  for (const [i, { agent, record }] of matches.entries()) {
    const turn = i % STEP === 0 ? waitForTurn() : undefined
    if (turn) await turn
    const values = new Map(term(record, () => catalog.facts(agent)).map((value) => [ardValue(path, value), value]))
    for (const [key, value] of values) {
      const known = counts.get(key)
      if (known) known.count++
      else counts.set(key, { value: String(value), count: 1 })
    }
  }
  const buckets = [...counts.values()]
    .filter(({ count }) => count >= minCount)
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
  const others = buckets.slice(limit).reduce((sum, { count }) => sum + count, 0)
  return {
    buckets: buckets.slice(0, limit).map(({ value, count }) => ({ value, count })),
    ...(others > 0 && { otherCount: others }),
  }
}
