import type { StoredCounts } from './statistics-store.js'

/** Counters with those that are added, as of the later time: both have faded until then. */
export function addFaded(a: StoredCounts, b: StoredCounts, halfLife: number): StoredCounts {
  const at = Math.max(a.at, b.at)
  const left = ({ at: then }: StoredCounts): number => 0.5 ** ((at - then) / halfLife)
  const [ofA, ofB] = [left(a), left(b)]
  return {
    ...b,
    at,
    calls: a.calls * ofA + b.calls * ofB,
    failures: a.failures * ofA + b.failures * ofB,
    ms: a.ms * ofA + b.ms * ofB,
  }
}
