import { toChange } from '../rows.js'
import type { Change } from '../store.js'
import { StoreError } from '../store-error.js'
import { prepare, rowOf, rowsOf, type Sqlite } from './database.js'

/**
 * SQLite commits in order of revision, so a cursor is the last revision that was read. Revisions have no gaps, so the
 * log was cut off after the cursor if it does not begin at the next one.
 */
export function createReadChanges(db: Sqlite): (cursor: string) => { cursor: string; changes: Change[] } {
  const selectLast = prepare(db, `SELECT seq FROM sqlite_sequence WHERE name = 'changes'`)
  const selectAfter = prepare(db, 'SELECT revision, kind, id, number FROM changes WHERE revision > ? ORDER BY revision')

  return (cursor) => {
    const seen = /^\d+$/.test(cursor) ? Number(cursor) : Number.NaN
    const last = Number(rowOf(selectLast)?.seq)
    if (seen === last) return { cursor, changes: [] }
    // Read after `last`: what was committed in between comes along, and a prune in between shows as a cut.
    const changes = rowsOf(selectAfter, [seen]).map(toChange)
    // A cursor from the future is from before the database was replaced by a backup.
    if (!(seen < last) || changes[0]?.revision !== seen + 1) {
      throw new StoreError('cursor_lost', `the change log does not reach back to ${cursor}`)
    }
    return { cursor: String(changes.at(-1)?.revision), changes }
  }
}
