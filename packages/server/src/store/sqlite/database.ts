import Database from 'libsql'
import { isRow, type Row } from '../rows.js'
import { reasonOf, StoreError } from '../store-error.js'

export type Sqlite = Database.Database

/** A prepared statement. Its parameters go in as an array: libsql takes a lone object, and so null, for named ones. */
export interface Statement {
  get(parameters: unknown[]): unknown
  all(parameters: unknown[]): unknown[]
  run(parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint }
}

/** Milliseconds to wait for another connection's write: the server's, or that of `keys reset-admin` beside it. */
const BUSY_TIMEOUT = 5000

/** A connection as all of ours are: a write-ahead log, and a commit that is on the disk when it returns. */
export function openDatabase(file: string): Sqlite {
  const db = new Database(file, { timeout: BUSY_TIMEOUT })
  try {
    db.exec('PRAGMA journal_mode = WAL')
    db.exec('PRAGMA synchronous = FULL')
    // On macOS an fsync stops at the drive's cache; elsewhere these do nothing.
    db.exec('PRAGMA fullfsync = ON')
    db.exec('PRAGMA checkpoint_fullfsync = ON')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export const prepare = (db: Sqlite, sql: string): Statement => db.prepare<[unknown[]]>(sql)

export const rowsOf = (statement: Statement, parameters: unknown[] = []): Row[] =>
  statement.all(parameters).filter(isRow)

export function rowOf(statement: Statement, parameters: unknown[] = []): Row | undefined {
  const row = statement.get(parameters)
  return isRow(row) ? row : undefined
}

/** What went wrong in SQLite, as the error of a store. */
export function toStoreError(error: unknown, folder: string): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError('unavailable', `cannot use the store in ${folder}: ${reasonOf(error)}`, { cause: error })
}
