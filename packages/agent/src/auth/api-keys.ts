import { createHash, timingSafeEqual } from 'node:crypto'
import { AgentError } from '../errors.js'
import type { ApiKey } from './options.js'

interface StoredKey {
  readonly hash: Buffer
  readonly subject: string
  readonly scopes: readonly string[]
}

/** Finds the owner of a key. Hashes are compared in constant time, against timing attacks. */
export function createApiKeys(keys: readonly ApiKey[]): (key: string) => Omit<StoredKey, 'hash'> | undefined {
  const stored = keys.map(({ key, sha256, subject, scopes = [] }): StoredKey => {
    const hash = key === undefined ? Buffer.from(sha256 ?? '', 'hex') : hashOf(key)
    if (hash.length !== 32 || key === '') {
      throw new AgentError('invalid_definition', `the API key of ${subject} needs "key", or "sha256" in hexadecimal`)
    }
    return { hash, subject, scopes }
  })
  return (key) => {
    const hash = hashOf(key)
    let found: StoredKey | undefined
    for (const candidate of stored) if (timingSafeEqual(candidate.hash, hash)) found = candidate
    return found
  }
}

const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest()
