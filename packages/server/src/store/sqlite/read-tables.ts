import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  type CopiedTable,
  ownTables,
  readPages,
  type StoredValue,
  type Table,
  type TableReader,
} from '../backup/tables.js'
import type { Row } from '../rows.js'
import { knownSchemaVersion } from '../schema-version.js'
import { StoreError } from '../store-error.js'
import { openDatabase, prepare, rowOf, rowsOf, type Sqlite, toStoreError } from './database.js'
import { lockFolder } from './lock-folder.js'
import { MIGRATIONS, versionOf } from './migrations.js'
import { FILE, requireStore } from './private-files.js'

/** Reads the store of a folder as it is now. With `lock`, no server may use it meanwhile. */
export function readSqliteTables(folder: string, { lock = false } = {}): TableReader {
  requireStore(folder)
  const file = join(folder, FILE)
  const release = lock ? lockFolder(folder) : undefined
  let db: Sqlite | undefined
  const close = async (): Promise<void> => {
    // Explicitly: close() would leave it to the garbage collector, and until then the log could not be truncated.
    if (db?.inTransaction) db.exec('ROLLBACK')
    db?.close()
    db = undefined
    release?.()
  }
  try {
    const open = openDatabase(file)
    db = open
    open.exec('PRAGMA query_only = ON')
    open.exec('BEGIN')
    const version = knownSchemaVersion(versionOf(open), MIGRATIONS.length)
    const tables = listTables(open).map((table) => countRows(open, table))
    return {
      schema: { store: 'sqlite', version },
      revision: counterOf(open, 'changes') ?? 0,
      tables,
      async *pages() {
        for (const table of tables) for await (const rows of rowsIn(open, table)) yield { table, rows }
      },
      close,
    }
  } catch (error) {
    void close()
    throw toStoreError(error, folder)
  }
}

/** The tables of a store that exist, with their columns. */
export const listTables = (db: Sqlite): Table[] => {
  const selectColumns = prepare(db, 'SELECT name FROM pragma_table_info(?) ORDER BY cid')
  return ownTables(MIGRATIONS)
    .map((name) => ({ name, columns: rowsOf(selectColumns, [name]).map((column) => String(column.name)) }))
    .filter(({ columns }) => columns.length > 0)
}

function countRows(db: Sqlite, table: Table): CopiedTable {
  const rows = Number(rowOf(prepare(db, `SELECT count(*) AS n FROM ${table.name}`))?.n)
  const counter = counterOf(db, table.name)
  return { ...table, rows, ...(counter !== undefined && { counter }) }
}

function counterOf(db: Sqlite, table: string): number | undefined {
  const row = rowOf(prepare(db, 'SELECT seq FROM sqlite_sequence WHERE name = ?'), [table])
  return row && Number(row.seq)
}

function rowsIn(db: Sqlite, { name, columns }: Table): AsyncIterable<readonly StoredValue[][]> {
  const select = prepare(
    db,
    `SELECT rowid AS row_position, ${columns.join(', ')} FROM ${name} WHERE rowid > ? ORDER BY rowid LIMIT ?`,
  )
  let last = 0
  return readPages(async (limit) => {
    await setImmediate() // for signals and the progress bar
    const rows = rowsOf(select, [last, limit])
    last = Number(rows.at(-1)?.row_position ?? last)
    return rows.map((row) => columns.map((column) => toValue(row, column)))
  })
}

function toValue(row: Row, column: string): StoredValue {
  const value = row[column]
  if (value === null || typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array)
    return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  throw new StoreError('unavailable', `the column ${column} contains a value of an unexpected type`)
}
