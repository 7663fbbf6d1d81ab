import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '../store-error.js'
import { toStoreError } from './database.js'

const FILE = 'secret.key'
/** Characters; what this file is made with has 43. */
const SHORTEST = 16

/** The secret of a folder, by which it keeps other secrets: made at the first start, readable by its owner only. */
export function readSecret(folder: string): string {
  const path = join(folder, FILE)
  try {
    createOnce(path)
    // A backup that was put back may be readable by others.
    chmodSync(path, 0o600)
    const secret = readFileSync(path, 'utf8').trim()
    if (secret.length >= SHORTEST) return secret
  } catch (error) {
    throw toStoreError(error, folder)
  }
  throw new StoreError('unavailable', `${path} holds no secret: put it back, or delete it and set credentials anew`)
}

function createOnce(path: string): void {
  try {
    writeFileSync(path, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
