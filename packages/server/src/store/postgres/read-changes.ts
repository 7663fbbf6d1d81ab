import { toChange } from '../rows.js'
import type { Change } from '../store.js'
import { StoreError } from '../store-error.js'
import { type Connection, sqlStateOf } from './connect.js'

/**
 * Which history the change log belongs to. Transaction ids are valid for one server process only (after a crash, ids of
 * lost commits are assigned again), so it includes the server's start time. The file of the log and the id of the
 * database tell that a backup was restored.
 */
const HISTORY = `concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), pg_relation_filenode('changes'),
  (SELECT database_id FROM switchboard))`

/** The last revision that was assigned. If it is lower than before, the database is an older one. */
export const REVISION = '(SELECT last_value FROM changes_revision_seq)'

/**
 * A cursor has a snapshot: the transactions that had finished when it was taken. Everything that it cannot see was
 * committed since, so nothing is missed when transactions commit out of order.
 */
export const CURSOR = `${HISTORY} || '/' || ${REVISION} || '/' || pg_current_snapshot()::text`

/** One statement, so that the changes and the next cursor come from the same snapshot. */
const CHANGES = `
  WITH feed AS (
    SELECT ${CURSOR} AS cursor,
      ${HISTORY} <> $1 OR ${REVISION} < $2::bigint
        OR pg_snapshot_xmin($3::pg_snapshot) <= (SELECT pruned FROM switchboard)
        OR pg_snapshot_xmax($3::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) AS lost
  )
  SELECT feed.cursor, feed.lost, c.revision, c.kind, c.id, c.number
  FROM feed LEFT JOIN changes c
    ON c.xid >= pg_snapshot_xmin($3::pg_snapshot) AND NOT pg_visible_in_snapshot(c.xid, $3::pg_snapshot)
  ORDER BY c.revision`

const INVALID_TEXT = '22P02'

export async function readChanges(
  connection: Connection,
  cursor: string,
): Promise<{ cursor: string; changes: Change[] }> {
  const lost = () => new StoreError('cursor_lost', `the change log does not continue from the cursor ${cursor}`)
  const [history, revision, snapshot] = cursor.split('/')
  const rows = await connection.query(CHANGES, [history, revision, snapshot]).catch((error: unknown) => {
    throw sqlStateOf(error) === INVALID_TEXT ? lost() : error
  })
  if (rows[0]?.lost !== false) throw lost()
  return { cursor: String(rows[0].cursor), changes: rows.filter((row) => row.revision !== null).map(toChange) }
}
