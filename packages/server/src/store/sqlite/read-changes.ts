import { toChange } from '../rows.js'
import type { Change } from '../store.js'
import { StoreError } from '../store-error.js'
import { prepare, rowOf, rowsOf, type Sqlite } from './database.js'

/**
 * SQLite commits in the order of revisions, so the cursor is the last revision that was read. Revisions have no gaps, so
 * the log has been pruned beyond the cursor if it does not continue with the next one.
 */
export function createReadChanges(db: Sqlite): (cursor: string) => { cursor: string; changes: Change[] } {
  const selectLast = prepare(db, `SELECT seq FROM sqlite_sequence WHERE name = 'changes'`)
  const selectAfter = prepare(db, 'SELECT revision, kind, id, number FROM changes WHERE revision > ? ORDER BY revision')

  return (cursor) => {
    const seen = /^\d+$/.test(cursor) ? Number(cursor) : Number.NaN
    const last = Number(rowOf(selectLast)?.seq)
    if (seen === last) return { cursor, changes: [] }
    // Read after `last`, so that it includes commits in between, and a prune in between shows as a gap.
    const changes = rowsOf(selectAfter, [seen]).map(toChange)
    // A cursor ahead of the log is from before the database was restored from a backup.
    if (!(seen < last) || changes[0]?.revision !== seen + 1) {
      throw new StoreError('cursor_lost', `the change log has been pruned beyond the cursor ${cursor}`)
    }
    return { cursor: String(changes.at(-1)?.revision), changes }
  }
}
