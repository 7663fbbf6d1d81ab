import { toVectors } from '../rows.js'
import type { StoredVectors } from '../store.js'
import { prepare, rowsOf, type Sqlite } from './database.js'

/** Agents in one batch. */
const BATCH = 500

/** Reads the next batch of vectors after a number, in the order of numbers. */
export function createReadVectors(
  db: Sqlite,
): (model: string, numbers: readonly number[] | undefined, after: number) => StoredVectors[] {
  const all = prepare(db, `SELECT * FROM vectors WHERE model = ? AND number > ? ORDER BY number LIMIT ${BATCH}`)
  const named = prepare(
    db,
    `SELECT * FROM vectors WHERE model = ? AND number > ? AND number IN (SELECT value FROM json_each(?))
     ORDER BY number LIMIT ${BATCH}`,
  )
  return (model, numbers, after) => {
    const rows = numbers ? rowsOf(named, [model, after, JSON.stringify(numbers)]) : rowsOf(all, [model, after])
    return rows.map(toVectors)
  }
}
