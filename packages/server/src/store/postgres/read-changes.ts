import { toChange } from '../rows.js'
import type { Change } from '../store.js'
import { StoreError } from '../store-error.js'
import { type Connection, sqlStateOf } from './connect.js'

/**
 * A cursor is a snapshot: the transactions that had finished when it was taken. Everything that it cannot see was
 * committed since, so nothing is missed when transactions commit out of order. Transaction ids are valid for one server
 * process only (after a crash, ids of lost commits are assigned again), so the cursor includes the server's start time.
 */
export const CURSOR = `extract(epoch FROM pg_postmaster_start_time())::text || '/' || pg_current_snapshot()::text`

/** One statement, so that the changes and the next cursor come from the same snapshot. */
const CHANGES = `
  WITH feed AS (
    SELECT ${CURSOR} AS cursor,
      extract(epoch FROM pg_postmaster_start_time())::text <> $1
        OR pg_snapshot_xmin($2::pg_snapshot) <= (SELECT pruned FROM switchboard)
        OR pg_snapshot_xmax($2::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) AS lost
  )
  SELECT feed.cursor, feed.lost, c.revision, c.kind, c.id, c.number
  FROM feed LEFT JOIN changes c
    ON c.xid >= pg_snapshot_xmin($2::pg_snapshot) AND NOT pg_visible_in_snapshot(c.xid, $2::pg_snapshot)
  ORDER BY c.revision`

const INVALID_TEXT = '22P02'

export async function readChanges(
  connection: Connection,
  cursor: string,
): Promise<{ cursor: string; changes: Change[] }> {
  const lost = () => new StoreError('cursor_lost', `the change log has been pruned beyond the cursor ${cursor}`)
  const [server, snapshot] = cursor.split('/')
  const rows = await connection.query(CHANGES, [server, snapshot]).catch((error: unknown) => {
    throw sqlStateOf(error) === INVALID_TEXT ? lost() : error
  })
  if (rows[0]?.lost !== false) throw lost()
  return { cursor: String(rows[0].cursor), changes: rows.filter((row) => row.revision !== null).map(toChange) }
}
