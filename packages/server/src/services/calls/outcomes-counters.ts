import { addDecayed, type StoredCounts } from '../../store/statistics-store.js'

/** A call counts half after a week: an agent that got better is soon known for it. */
export const HALF_LIFE_MS = 7 * 86_400_000

/** Operations of one agent that are counted apart; calls of more are not counted. */
const MAX_OPERATIONS = 200

/** Counters of one agent, by operation: what the store has, and what it is yet to be told. */
export interface AgentCounters {
  readonly owner: string
  /** As the store has it. */
  readonly stored: Map<string, StoredCounts>
  /** Since the store was last told. */
  added: Map<string, StoredCounts>
  /** What the store is being told. */
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

/** Counters by operation as of now: stored, on their way, and new, together. */
export function currentCounts({ stored, sent, added }: AgentCounters, now: number): Map<string, StoredCounts> {
  const together = new Map<string, StoredCounts>()
  for (const part of [stored, sent, added]) for (const counts of part.values()) addCounts(together, counts)
  for (const counts of together.values()) {
    addCounts(together, { ...counts, at: Math.max(now, counts.at), calls: 0, failures: 0, ms: 0 })
  }
  return together
}

/** All operations of an agent as one. */
export function sumCounts(all: Iterable<StoredCounts>): Pick<StoredCounts, 'calls' | 'failures' | 'ms'> {
  const sum = { calls: 0, failures: 0, ms: 0 }
  for (const { calls, failures, ms } of all) {
    sum.calls += calls
    sum.failures += failures
    sum.ms += ms
  }
  return sum
}
