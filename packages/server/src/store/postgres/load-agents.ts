import { AGENT_COLUMNS, toLoadedAgent } from '../rows.js'
import type { Loaded, StoredAgent } from '../store.js'
import { StoreError } from '../store-error.js'
import type { Connection } from './connect.js'
import { forgetForeignChanges } from './migrations.js'
import { CURSOR, REVISION } from './read-changes.js'

const BATCH = 500

/** Reads one snapshot on a separate connection. While it runs, `open` contains a function that ends it early. */
export async function loadAgents(connection: Connection, open: Set<() => void>): Promise<Loaded> {
  // A backup may have been restored while this process was running.
  await connection.transaction(forgetForeignChanges)
  const reading = await connection.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const close = (): void => {
    if (open.delete(close)) reading.abandon()
  }
  open.add(close)

  const readAfter = (number: number) =>
    reading.query(
      `SELECT ${AGENT_COLUMNS} FROM agents a JOIN presence p USING (number)
       WHERE a.number > $1 ORDER BY a.number LIMIT ${BATCH}`,
      [number],
    )

  async function* agents(): AsyncGenerator<StoredAgent[]> {
    try {
      let next = readAfter(0)
      for (;;) {
        if (!open.has(close)) throw new StoreError('closed', 'the store is closed')
        const rows = await next
        // Fetch the next page while this one is processed; its error is thrown when it is awaited.
        next = rows.length === BATCH ? readAfter(Number(rows.at(-1)?.number)) : Promise.resolve([])
        next.catch(() => {})
        if (rows.length > 0) yield rows.map(toLoadedAgent)
        if (rows.length < BATCH) return
      }
    } finally {
      close()
    }
  }

  try {
    const [row] = await reading.query(`SELECT ${CURSOR} AS cursor, ${REVISION} AS revision`)
    return { cursor: String(row?.cursor), revision: Number(row?.revision), agents: agents() }
  } catch (error) {
    close()
    throw error
  }
}
