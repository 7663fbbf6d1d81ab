import type { Row } from '../rows.js'
import type { OverQuota } from '../store.js'
import type { Query } from './connect.js'
import type { PendingWrite } from './write-agents.js'

/**
 * The writes of a batch that would exceed the quota of their owner. From here to the end of the transaction, no other replica
 * can add agents of these owners.
 *
 * @param rows the agents that the writes change, locked; undefined: the write registers a new one
 */
export async function findOverQuota(
  query: Query,
  batch: readonly PendingWrite[],
  rows: readonly (Row | undefined)[],
): Promise<Map<PendingWrite, OverQuota>> {
  const owners = new Set(batch.flatMap(({ write }) => (write.kind === 'put' && write.quota ? [write.owner] : [])))
  const over = new Map<PendingWrite, OverQuota>()
  if (owners.size === 0) return over
  const used = await lockUsage(query, [...owners])
  batch.forEach((pending, i) => {
    const { write } = pending
    if (write.kind !== 'put' || !write.quota) return
    const { agents, bytes } = used.get(write.owner) ?? { agents: 0, bytes: 0 }
    const row = rows[i]?.owner === write.owner ? rows[i] : undefined
    const growth = { agents: row ? 0 : 1, bytes: growthOf(write.memory, row) }
    const after = { agents: agents + growth.agents, bytes: bytes + growth.bytes }
    const { quota } = write
    const isOver = (['agents', 'bytes'] as const).some((unit) => growth[unit] > 0 && after[unit] > quota[unit])
    if (isOver) over.set(pending, { usage: { agents, bytes }, growth })
    else used.set(write.owner, after)
  })
  return over
}

/** The size of a document that an earlier version stored is not known: it may be replaced by any other. */
const growthOf = (memory: number, row: Row | undefined): number => {
  const before = Number(row?.memory ?? 0)
  return row && before === 0 ? 0 : memory - before
}

/** Owners are locked in the same order everywhere, after the agents and before new names, so that there are no deadlocks. */
async function lockUsage(query: Query, owners: string[]): Promise<Map<string, OverQuota['usage']>> {
  await query('SELECT pg_advisory_xact_lock(hashtextextended(owner, 1)) FROM unnest($1::text[]) AS o (owner)', [
    owners.toSorted(),
  ])
  const rows = await query(USAGE, [owners])
  return new Map(
    rows.map(({ owner, agents, bytes }) => [String(owner), { agents: Number(agents), bytes: Number(bytes) }]),
  )
}

const USAGE = `
  SELECT owner, count(*) AS agents, sum(memory) AS bytes FROM agents WHERE owner = ANY ($1) GROUP BY owner`
