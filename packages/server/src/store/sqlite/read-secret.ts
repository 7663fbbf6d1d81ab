import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '../store-error.js'
import { toStoreError } from './database.js'

const FILE = 'secret.key'
/** Characters; generated secrets have 43. */
const MIN_LENGTH = 16

/** The secret that encrypts other secrets in the folder: created at the first start, readable by its owner only. */
export function readSecret(folder: string): string {
  const path = join(folder, FILE)
  try {
    createIfMissing(path)
    // A restored backup may be readable by others.
    chmodSync(path, 0o600)
    const secret = readFileSync(path, 'utf8').trim()
    if (secret.length >= MIN_LENGTH) return secret
  } catch (error) {
    throw toStoreError(error, folder)
  }
  throw new StoreError(
    'unavailable',
    `${path} contains no secret: restore it from a backup, or delete it and set all credentials again`,
  )
}

function createIfMissing(path: string): void {
  try {
    writeFileSync(path, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
