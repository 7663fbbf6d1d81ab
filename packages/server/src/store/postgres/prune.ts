import { DAY_MS } from '../limit-store.js'
import { MAX_CHOICES } from '../statistics-store.js'
import type { PruneBefore } from '../store.js'
import type { Connection } from './connect.js'

/** Rows that one statement deletes at most, so that none runs into the query timeout. */
const ROWS = 10_000

export async function prune(connection: Connection, before: PruneBefore): Promise<void> {
  await deleteBefore(connection, 'audit', 'at', before.audit)
  await deleteBefore(connection, 'tombstones', 'at', before.tombstones)
  await deleteBefore(connection, 'idempotency', 'expires_at', before.idempotency)
  await deleteBefore(connection, 'tasks', 'expires_at', before.tasks, 'AND work IS NULL')
  await deleteBefore(connection, 'statistics', 'at', before.tombstones)
  await deleteBefore(connection, 'choices', 'at', before.tombstones)
  await connection.query(PRUNE_CHOICES, [MAX_CHOICES])
  await deleteBefore(connection, 'trust', 'expires_at', before.tasks)
  await deleteBefore(connection, 'federated', 'expires_at', before.tasks, "AND state <> 'rejected'")
  await deleteBefore(connection, 'usage', 'day', Math.floor(before.tasks / DAY_MS))
  await connection.query(PRUNE_BUCKETS, [ROWS])
  await connection.query(`DELETE FROM claims WHERE until < clock_timestamp()`)
  await connection.query(`DELETE FROM replicas WHERE seen_at < clock_timestamp() - interval '1 hour'`)
  for (const table of ['credentials', 'ratings']) await deleteOrphans(connection, table)
  while ((await connection.query(PRUNE_CHANGES, [before.changes, ROWS])).length > 0);
}

async function deleteBefore(
  connection: Connection,
  table: string,
  column: string,
  time: number,
  condition = '',
): Promise<void> {
  const sql = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE ${column} < $1 ${condition} LIMIT $2)) RETURNING 1`
  while ((await connection.query(sql, [time, ROWS])).length === ROWS);
}

/** Buckets that are full again. */
const PRUNE_BUCKETS = `DELETE FROM buckets WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM buckets WHERE at < clock_timestamp() - 2 * refill_ms * interval '1 millisecond' LIMIT $1))`

/** Choices of agents that are gone, and those beyond the limit that were shown least. */
const PRUNE_CHOICES = `DELETE FROM choices c WHERE NOT EXISTS (SELECT FROM agents a WHERE a.number = c.number)
  OR c.ctid IN (SELECT ctid FROM choices ORDER BY shown DESC, at DESC OFFSET $1)`

/** Deletes data of agents that have no tombstone any more. */
async function deleteOrphans(connection: Connection, table: string): Promise<void> {
  const sql = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT o.ctid FROM ${table} o
    WHERE NOT EXISTS (SELECT FROM agents a WHERE a.id = o.agent AND a.owner = o.owner)
      AND NOT EXISTS (SELECT FROM tombstones t WHERE t.id = o.agent AND t.owner = o.owner) LIMIT $1)) RETURNING 1`
  while ((await connection.query(sql, [ROWS])).length === ROWS);
}

/**
 * Deletes the entries of whole transactions, oldest first, up to the first one with an entry to keep or that an open
 * transaction might still precede. Records the last one deleted, so that a replica notices that its cursor is lost.
 */
const PRUNE_CHANGES = `
  WITH oldest AS MATERIALIZED (
    SELECT xid FROM changes
    WHERE xid < pg_snapshot_xmin(pg_current_snapshot())
      AND xid < coalesce((SELECT xid FROM changes WHERE at >= $1 ORDER BY xid LIMIT 1), '18446744073709551615'::xid8)
    ORDER BY xid LIMIT $2
  ), last AS (
    SELECT xid FROM oldest ORDER BY xid DESC LIMIT 1
  ), deleted AS (
    DELETE FROM changes WHERE xid <= (SELECT xid FROM last)
  )
  UPDATE switchboard SET pruned = greatest(pruned, last.xid) FROM last RETURNING 1`
