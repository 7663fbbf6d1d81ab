import type { JsonObject } from '@switchboard/protocol'
import { type Caller, isAdmin } from '../../../policy/caller.js'
import { type Reputation, reputationFactor } from '../../../policy/reputation.js'
import { addDecayed, type RatingTotals, type StoredCounts, type StoredRating } from '../../../store/statistics-store.js'
import type { Store } from '../../../store/store.js'
import type { Agent } from '../../registry/catalog.js'

/** How one call of an agent went. Client errors (4xx) and cancelled calls are not counted. */
export interface Outcome {
  readonly ok: boolean
  /** Milliseconds until the response or the failure. */
  readonly ms: number
}

/** Statistics of calls and ratings by agent. They belong to the owner: a new owner of the name starts from zero. */
export interface Outcomes {
  /** Drops statistics of an earlier owner's agent of the same name. */
  dropEarlier(agent: Agent): void
  record(agent: Agent, operation: string, outcome: Outcome): void
  rate(rating: StoredRating): Promise<void>
  /** Undefined without data, and for callers who are neither the agent's owner nor an administrator. */
  statisticsOf(agent: Agent, caller: Caller): JsonObject | undefined
  /** Score factor for ranking: 0.95 to 1.05; 1 without data. */
  factorOf(agent: Agent): number
  /** Writes new counts to the store and reads those of other replicas. */
  sync(): Promise<void>
  /** Writes the remaining counts. */
  close(): Promise<void>
}

export interface OutcomesOptions {
  readonly store: Store
  readonly now: () => number
  /** Whether the agent is still registered; counters of other agents are dropped from memory. */
  readonly isKnown: (id: string) => boolean
  readonly onError: (error: unknown) => void
}

/** Milliseconds between synchronisations; a crash loses what was counted since the last one. */
const SYNC_MS = 10_000
/** Milliseconds by which clocks of replicas may differ, plus the time that a write takes. */
const OVERLAP_MS = 60_000

export async function createOutcomes({ store, now, isKnown, onError }: OutcomesOptions): Promise<Outcomes> {
  const agents = new Map<string, AgentCounters>()
  const ratings = new Map<string, RatingTotals>()
  let readAt = 0

  const countersOf = (id: string, owner: string): AgentCounters => {
    const known = agents.get(id)
    if (known?.owner === owner) return known
    const fresh = newCounters(owner)
    agents.set(id, fresh)
    return fresh
  }

  const read = async (): Promise<void> => {
    const since = readAt - OVERLAP_MS
    const at = now()
    const changed = await store.statistics.since(since)
    for (const counters of agents.values()) counters.sent = new Map()
    for (const counts of changed) {
      countersOf(counts.agent, counts.owner).stored.set(counts.operation, counts)
    }
    for (const totals of await store.statistics.ratingsSince(since)) ratings.set(totals.agent, totals)
    readAt = at
  }

  const write = async (): Promise<void> => {
    const fresh: StoredCounts[] = []
    for (const counters of agents.values()) {
      counters.sent = counters.added
      counters.added = new Map()
      fresh.push(...counters.sent.values())
    }
    try {
      await store.statistics.add(fresh, HALF_LIFE_MS)
    } catch (error) {
      for (const { sent, added } of agents.values()) for (const counts of sent.values()) addCounts(added, counts)
      for (const counters of agents.values()) counters.sent = new Map()
      throw error
    }
  }

  const sync = async (): Promise<void> => {
    await write()
    await read()
    for (const [id, { added }] of agents) if (!isKnown(id) && added.size === 0) agents.delete(id)
  }

  const current = ({ record, owner }: Agent): Map<string, StoredCounts> | undefined => {
    const counters = agents.get(record.id)
    return counters?.owner === owner ? currentCounts(counters, now()) : undefined
  }
  const ratingsOf = ({ record, owner }: Agent): RatingTotals | undefined => {
    const totals = ratings.get(record.id)
    return totals?.owner === owner && totals.count > 0 ? totals : undefined
  }

  await read()
  let running: Promise<void> | undefined
  const run = (): Promise<void> => {
    running ??= sync().finally(() => {
      running = undefined
    })
    return running
  }
  const timer = setInterval(() => run().catch(onError), SYNC_MS)
  timer.unref()

  return {
    dropEarlier({ record: { id }, owner }) {
      if (agents.has(id) && agents.get(id)?.owner !== owner) agents.delete(id)
      if (ratings.has(id) && ratings.get(id)?.owner !== owner) ratings.delete(id)
    },
    record({ record, owner }, operation, { ok, ms }) {
      const counts = { calls: 1, failures: ok ? 0 : 1, ms: ok ? ms : 0 }
      addCounts(countersOf(record.id, owner).added, { agent: record.id, owner, operation, at: now(), ...counts })
    },
    async rate(rating) {
      const totals = await store.statistics.rate(rating)
      ratings.set(rating.agent, totals)
    },
    statisticsOf(agent, caller) {
      const maySee = caller.kind !== 'anonymous' && (isAdmin(caller) || caller.subject === agent.owner)
      const counts = maySee ? current(agent) : undefined
      const totals = maySee ? ratingsOf(agent) : undefined
      if (!counts && !totals) return undefined
      const operations = [...(counts ?? [])].map(([name, each]) => [name, showCounts(each)])
      return {
        ...(counts && { ...showCounts(sumCounts(counts.values())), operations: Object.fromEntries(operations) }),
        ...(totals && { rating: round(totals.sum / totals.count, 2), ratings: totals.count }),
      }
    },
    factorOf(agent) {
      const counts = current(agent)
      const totals = ratingsOf(agent)
      return counts || totals ? reputationFactor(toReputation(counts, totals)) : 1
    },
    sync: run,
    async close() {
      clearInterval(timer)
      await running?.catch(onError)
      await write().catch(onError)
    },
  }
}

function toReputation(counts: Map<string, StoredCounts> | undefined, totals: RatingTotals | undefined): Reputation {
  const { calls, failures, ms } = sumCounts(counts?.values() ?? [])
  return {
    calls,
    failures,
    latencyMs: calls > failures ? ms / (calls - failures) : undefined,
    ratings: totals?.count ?? 0,
    rating: totals && totals.sum / totals.count,
  }
}

function showCounts({ calls, failures, ms }: Pick<StoredCounts, 'calls' | 'failures' | 'ms'>): JsonObject {
  return {
    calls: round(calls, 1),
    ...(calls > 0 && { success_rate: round(1 - failures / calls, 3) }),
    ...(calls > failures && { latency_ms: round(ms / (calls - failures), 1) }),
  }
}

const round = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits

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
