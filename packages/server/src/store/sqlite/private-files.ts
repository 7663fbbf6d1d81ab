import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '../store-error.js'

/** The database in the folder of a store. */
export const FILE = 'switchboard.db'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
/** Permissions of the group and of everyone else. */
const OTHERS = 0o077

/** The files of a store: its databases with their logs, and its secret. */
const OWN_FILES = /^(switchboard|lock)\.db(-wal|-shm|-journal)?$|^secret\.key$/

/** A file that others could read when the store was opened. */
export interface ExposedFile {
  readonly path: string
  /** False if its permissions could not be changed. */
  readonly isFixed: boolean
}

/** Throws unless the folder has a store. */
export function requireStore(folder: string): void {
  const file = join(folder, FILE)
  if (!existsSync(file)) throw new StoreError('unavailable', `there is no store in ${folder}: ${file} does not exist`)
}

/** Creates the folder for its owner only if it does not exist; an existing one keeps its permissions. */
export function createPrivateFolder(folder: string): void {
  // The mode of `mkdir` is subject to the umask.
  if (mkdirSync(folder, { recursive: true, mode: FOLDER_MODE }) !== undefined) chmodSync(folder, FOLDER_MODE)
}

/** Creates a file for its owner only if it does not exist. SQLite gives a database's log the permissions of the database. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE))
    chmodSync(path, FILE_MODE)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** Takes the permissions of others from existing files of the store; returns the files that had any. */
export function restrictFiles(folder: string): ExposedFile[] {
  // Windows has no such permissions; files inherit the access list of their folder.
  if (process.platform === 'win32') return []
  return readdirSync(folder)
    .filter((name) => OWN_FILES.test(name))
    .map((name) => join(folder, name))
    .filter((path) => (statSync(path).mode & OTHERS) !== 0)
    .map((path) => ({ path, isFixed: restrict(path) }))
}

function restrict(path: string): boolean {
  try {
    chmodSync(path, FILE_MODE)
  } catch {
    return false
  }
  return (statSync(path).mode & OTHERS) === 0
}
