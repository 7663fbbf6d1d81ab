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

/** What is wrong and what to do, by the error codes of SQLite and of the file system. */
const REASONS: readonly (readonly [codes: RegExp, reason: string])[] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'the disk is full: free some space'],
  [/^(SQLITE_CORRUPT|SQLITE_NOTADB)/, 'the database is damaged: restore a backup'],
  [/^(SQLITE_READONLY|EROFS)/, 'it is read-only: make it writable'],
  [/^(SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM)/, 'this user may not write there: change the permissions'],
  // Node reports a parent folder that cannot be written as missing.
  [/^ENOENT/, 'the folder cannot be created: make its parent folder writable'],
  [/^(EEXIST|ENOTDIR)/, 'it is not a folder'],
  [/^SQLITE_IOERR/, 'the disk fails, or has no room left'],
]

/** Translates an error of SQLite or of the file system. */
export function toStoreError(error: unknown, folder: string): StoreError {
  if (error instanceof StoreError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = REASONS.find(([codes]) => codes.test(code))?.[1]
  const text = reason === undefined ? reasonOf(error) : `${reason} (${reasonOf(error)})`
  return new StoreError('unavailable', `cannot use the store in ${folder}: ${text}`, { cause: error })
}

/** Whether the file was damaged, which does not heal by itself. */
export const isDamage = ({ message }: StoreError): boolean => message.includes('the database is damaged')
