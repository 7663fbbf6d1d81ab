import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'

/** What a search id stands for. */
export interface ShownSearch {
  /** Keyed hashes of the terms of the query. */
  readonly terms: readonly string[]
  /** Numbers of the agents listed, best first. */
  readonly agents: readonly number[]
}

/**
 * Writes and reads the ids that responses of searches carry. An id is encrypted and says nothing to whoever has no key. It is the
 * same for everybody who gets the same results for the same words within an hour, so nobody can be told by it.
 */
export interface SearchIds {
  write(search: ShownSearch): string
  /** Undefined if the id is not ours, was altered, or is older than a day. */
  read(id: string): ShownSearch | undefined
  /** The keyed hash of a term. */
  hash(term: string): string
}

const HOUR_MS = 3_600_000
/** Hours that an id is valid for. */
const LIFETIME = 24
const TERM_BYTES = 6
const NUMBER_BYTES = 4
/** Hours since 1970, and the number of terms. */
const HEAD_BYTES = 5
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Most agents and terms in an id. */
export const MAX_SHOWN = 10
export const MAX_TERMS = 6
const MAX_LENGTH = Math.ceil(
  ((HEAD_BYTES + MAX_TERMS * TERM_BYTES + MAX_SHOWN * NUMBER_BYTES + NONCE_BYTES + TAG_BYTES) * 4) / 3,
)

/** @param secret shared by all replicas */
export function createSearchIds(secret: string, now: () => number): SearchIds {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `switchboard search ${purpose}`, 32))
  const [cipherKey, nonceKey, termKey] = [derive('id'), derive('nonce'), derive('term')]
  const hour = (): number => Math.floor(now() / HOUR_MS)

  return {
    write({ terms, agents }) {
      const hashes = terms.slice(0, MAX_TERMS)
      const numbers = agents.slice(0, MAX_SHOWN)
      const plain = Buffer.alloc(HEAD_BYTES + hashes.length * TERM_BYTES + numbers.length * NUMBER_BYTES)
      plain.writeUInt32BE(hour(), 0)
      plain.writeUInt8(hashes.length, 4)
      for (const [at, hash] of hashes.entries()) plain.write(hash, HEAD_BYTES + at * TERM_BYTES, 'base64url')
      const rest = HEAD_BYTES + hashes.length * TERM_BYTES
      for (const [at, number] of numbers.entries()) plain.writeUInt32BE(number, rest + at * NUMBER_BYTES)
      // The nonce depends on the content alone: a random one would make every response distinguishable.
      const nonce = createHmac('sha256', nonceKey).update(plain).digest().subarray(0, NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', cipherKey, nonce, { authTagLength: TAG_BYTES })
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url')
    },
    read(id) {
      const bytes = Buffer.from(id.length > MAX_LENGTH ? '' : id, 'base64url')
      if (bytes.length < NONCE_BYTES + HEAD_BYTES + TAG_BYTES) return undefined
      const decipher = createDecipheriv('aes-256-gcm', cipherKey, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      }).setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
        return hour() - plain.readUInt32BE(0) < LIFETIME ? parse(plain) : undefined
      } catch {
        // Altered, or written with another key.
        return undefined
      }
    },
    hash: (term) => createHmac('sha256', termKey).update(term).digest().subarray(0, TERM_BYTES).toString('base64url'),
  }
}

/** The authentication tag has proved that the content is ours. */
function parse(plain: Buffer): ShownSearch {
  const rest = HEAD_BYTES + plain.readUInt8(4) * TERM_BYTES
  const terms: string[] = []
  for (let at = HEAD_BYTES; at < rest; at += TERM_BYTES) {
    terms.push(plain.subarray(at, at + TERM_BYTES).toString('base64url'))
  }
  const agents: number[] = []
  for (let at = rest; at < plain.length; at += NUMBER_BYTES) agents.push(plain.readUInt32BE(at))
  return { terms, agents }
}
