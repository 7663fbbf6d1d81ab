import { join } from 'node:path'
import Database from 'libsql'
import { StoreError } from '../store-error.js'

/**
 * Makes this process the only server of the folder. The lock is SQLite's own on an empty database, so the operating
 * system takes it back when the process dies, however it dies. Returns the release.
 *
 * Nothing but exec here: a prepared statement would keep the connection, and with it the lock, until it is collected.
 */
export function lockFolder(folder: string): () => void {
  const db = new Database(join(folder, 'lock.db'), { timeout: 0 })
  try {
    db.exec('PRAGMA journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') {
      throw new StoreError('locked', `another process uses the store in ${folder}`, { cause: error })
    }
    throw error
  }
  return () => {
    db.exec('ROLLBACK')
    db.close()
  }
}
