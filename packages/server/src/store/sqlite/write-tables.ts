import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { TableWriter } from '../backup/tables.js'
import { knownSchemaVersion } from '../schema-version.js'
import { openDatabase, prepare, rowOf, type Sqlite, type Statement, toStoreError } from './database.js'
import { lockFolder } from './lock-folder.js'
import { MIGRATIONS, migrate } from './migrations.js'
import { createPrivateFile, createPrivateFolder, FILE } from './private-files.js'
import { listTables } from './read-tables.js'

/** Fills the store of a folder, which no server may use meanwhile; creates it if it does not exist. */
export function writeSqliteTables(folder: string): TableWriter {
  let release: (() => void) | undefined
  let db: Sqlite | undefined
  const close = async (): Promise<void> => {
    if (db?.inTransaction) db.exec('ROLLBACK')
    db?.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db?.close()
    db = undefined
    release?.()
    release = undefined
  }
  try {
    createPrivateFolder(folder)
    release = lockFolder(folder)
    createPrivateFile(join(folder, FILE))
    db = openDatabase(join(folder, FILE))
    // Tables that only a newer Switchboard knows would keep their rows.
    knownSchemaVersion(migrate(db), MIGRATIONS.length)
    db.exec('BEGIN IMMEDIATE')
    return createWriter(folder, db, close)
  } catch (error) {
    void close()
    throw toStoreError(error, folder)
  }
}

function createWriter(folder: string, db: Sqlite, close: () => Promise<void>): TableWriter {
  const tables = listTables(db)
  const statements = new Map<string, Statement>()
  const attempt = async <T>(work: () => T): Promise<T> => {
    try {
      return work()
    } catch (error) {
      throw toStoreError(error, folder)
    }
  }
  const setCounter = (table: string, counter: number): void => {
    const { changes } = prepare(db, 'UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?').run([counter, table])
    if (changes === 0) prepare(db, 'INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run([table, counter])
  }
  return {
    schema: { store: 'sqlite', version: MIGRATIONS.length },
    tables,
    filled: () =>
      attempt(() => tables.flatMap(({ name }) => (rowOf(prepare(db, `SELECT 1 FROM ${name} LIMIT 1`)) ? [name] : []))),
    clear: () => attempt(() => tables.forEach(({ name }) => void db.exec(`DELETE FROM ${name}`))),
    async insert({ name, columns }, rows) {
      await setImmediate() // for signals and the progress bar
      await attempt(() => {
        const places = columns.map(() => '?').join(', ')
        const insert =
          statements.get(name) ?? prepare(db, `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${places})`)
        statements.set(name, insert)
        for (const row of rows) insert.run([...row])
      })
    },
    setCounter: (table, counter) => attempt(() => setCounter(table, counter)),
    setRevision: (revision, gap) =>
      attempt(() => {
        const before = Number(rowOf(prepare(db, `SELECT seq FROM sqlite_sequence WHERE name = 'changes'`))?.seq)
        db.exec('DELETE FROM changes')
        setCounter('changes', Math.max(before, revision) + gap)
      }),
    commit: () => attempt(() => void db.exec('COMMIT')),
    close,
  }
}
