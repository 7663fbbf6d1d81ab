import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { StoreError } from '../store-error.js'
import { isBusy } from './database.js'
import { createPrivateFile } from './private-files.js'

const LOCK_FILE = 'lock.db'

/**
 * Makes this process the only server of the folder; returns a function that releases the lock. It is SQLite's lock on an
 * empty database, so the operating system releases it however the process ends.
 *
 * Uses `exec` only: a prepared statement would keep the connection, and so the lock, until it is garbage-collected.
 */
export function lockFolder(folder: string): () => void {
  const file = join(folder, LOCK_FILE)
  createPrivateFile(file)
  const db = new Database(file, { timeout: 0 })
  try {
    db.exec('PRAGMA journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (isBusy(error)) {
      throw new StoreError(
        'locked',
        `another server uses the store in ${folder}: stop it, or choose another data folder`,
        { cause: error },
      )
    }
    throw error
  }
  return () => {
    db.exec('ROLLBACK')
    db.close()
  }
}

/** Whether a server uses the folder. Creates nothing. */
export function isLocked(folder: string): boolean {
  if (!existsSync(join(folder, LOCK_FILE))) return false
  try {
    lockFolder(folder)()
    return false
  } catch (error) {
    if (error instanceof StoreError && error.code === 'locked') return true
    throw error
  }
}
