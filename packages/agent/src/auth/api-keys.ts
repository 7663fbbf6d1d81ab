import { createHash, timingSafeEqual } from 'node:crypto'
import { AgentError } from '../errors.js'
import type { ApiKey } from './options.js'

interface StoredKey {
  readonly hash: Buffer
  readonly subject: string
  readonly scopes: readonly string[]
}

/** Finds who a key belongs to. Hashes are compared, each in the same time, so that nothing is learnt by trying. */
export function createApiKeys(keys: readonly ApiKey[]): (key: string) => Omit<StoredKey, 'hash'> | undefined {
  const stored = keys.map(({ key, sha256, subject, scopes = [] }): StoredKey => {
    const hash = key === undefined ? Buffer.from(sha256 ?? '', 'hex') : hashOf(key)
    if (hash.length !== 32 || key === '') {
      throw new AgentError('invalid_definition', `the API key of ${subject} needs a key, or its SHA-256 in hexadecimal`)
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
