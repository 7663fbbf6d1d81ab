import { addDecayed, type StoredCounts } from '../../../store/statistics-store.js'

/** Milliseconds after which a call counts half, so that an agent that improves is soon ranked accordingly. */
export const HALF_LIFE_MS = 7 * 86_400_000

/** Most operations of one agent that are counted; calls of further ones are not. */
const MAX_OPERATIONS = 200

/** Counters of one agent by operation: stored, being written, and new. */
export interface AgentCounters {
  readonly owner: string
  readonly stored: Map<string, StoredCounts>
  /** Counted since the last write. */
  added: Map<string, StoredCounts>
  /** Part of the write in progress. */
  sent: Map<string, StoredCounts>
}

export const newCounters = (owner: string): AgentCounters => ({
  owner,
  stored: new Map(),
  added: new Map(),
  sent: new Map(),
})

export function addCounts(to: Map<string, StoredCounts>, counts: StoredCounts): void {
  const known = to.get(counts.operation)
  if (!known && to.size >= MAX_OPERATIONS) return
  to.set(counts.operation, known ? addDecayed(known, counts, HALF_LIFE_MS) : counts)
}

/** The sum of stored, written and new counters by operation, decayed to now. */
export function currentCounts({ stored, sent, added }: AgentCounters, now: number): Map<string, StoredCounts> {
  const together = new Map<string, StoredCounts>()
  for (const part of [stored, sent, added]) for (const counts of part.values()) addCounts(together, counts)
  for (const counts of together.values()) {
    addCounts(together, { ...counts, at: Math.max(now, counts.at), calls: 0, failures: 0, ms: 0 })
  }
  return together
}

/** The sum over all operations. */
export function sumCounts(all: Iterable<StoredCounts>): Pick<StoredCounts, 'calls' | 'failures' | 'ms'> {
  const sum = { calls: 0, failures: 0, ms: 0 }
  for (const { calls, failures, ms } of all) {
    sum.calls += calls
    sum.failures += failures
    sum.ms += ms
  }
  return sum
}
