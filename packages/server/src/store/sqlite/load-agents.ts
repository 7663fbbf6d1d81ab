import { setImmediate } from 'node:timers/promises'
import { AGENT_COLUMNS, toLoadedAgent } from '../rows.js'
import type { Loaded, StoredAgent } from '../store.js'
import { openDatabase, prepare, rowOf, rowsOf } from './database.js'

/** Agents in one batch: about 3 ms, then the event loop runs. */
const BATCH = 500

/**
 * Reads one snapshot of the database on a separate connection, while other connections write. While it runs, `open`
 * contains a function that ends it early.
 */
export function loadAgents(file: string, open: Set<() => void>): Loaded {
  const db = openDatabase(file)
  const close = (): void => {
    if (!open.delete(close)) return
    // Explicitly: close() would leave it to the garbage collector, and until then the log could not be truncated.
    if (db.inTransaction) db.exec('ROLLBACK')
    db.close()
  }
  open.add(close)
  try {
    db.exec('BEGIN')
    const cursor = String(rowOf(prepare(db, `SELECT seq FROM sqlite_sequence WHERE name = 'changes'`))?.seq)
    const page = prepare(
      db,
      `SELECT ${AGENT_COLUMNS} FROM agents a JOIN presence p USING (number)
       WHERE a.number > ? ORDER BY a.number LIMIT ${BATCH}`,
    )
    async function* agents(): AsyncGenerator<StoredAgent[]> {
      try {
        let last = 0
        for (;;) {
          const batch = rowsOf(page, [last]).map(toLoadedAgent)
          last = batch.at(-1)?.number ?? last
          if (batch.length > 0) yield batch
          if (batch.length < BATCH) return
          await setImmediate()
        }
      } finally {
        close()
      }
    }
    return { cursor, revision: Number(cursor), agents: agents() }
  } catch (error) {
    close()
    throw error
  }
}
