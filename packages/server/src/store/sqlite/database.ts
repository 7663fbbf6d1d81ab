import Database from 'libsql'
import { isRow, type Row } from '../rows.js'
import { reasonOf, StoreError } from '../store-error.js'

export type Sqlite = Database.Database

/** A prepared statement. Parameters are passed as an array: libsql takes a single object or null for named parameters. */
export interface Statement {
  get(parameters: unknown[]): unknown
  all(parameters: unknown[]): unknown[]
  run(parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint }
}

/** Runs a synchronous read; errors become rejections with a StoreError. */
export type Read = <T>(read: () => T) => Promise<T>

/** Milliseconds to wait for another connection's write: the server's, or that of `keys reset-admin`. */
export const BUSY_TIMEOUT = 5000

/** Opens a connection with a write-ahead log whose commits are durable when they return. */
export function openDatabase(file: string): Sqlite {
  const db = new Database(file, { timeout: BUSY_TIMEOUT })
  try {
    db.exec('PRAGMA journal_mode = WAL')
    db.exec('PRAGMA synchronous = FULL')
    // On macOS a plain fsync does not flush the drive's cache; elsewhere these have no effect.
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

export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY'

/** Translates an error of SQLite. */
export function toStoreError(error: unknown, folder: string): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError('unavailable', `cannot use the store in ${folder}: ${reasonOf(error)}`, { cause: error })
}
