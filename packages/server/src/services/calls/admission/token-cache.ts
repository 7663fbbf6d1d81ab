import { LRUCache } from 'lru-cache'
import type { IssuedToken } from './request-token.js'

/** Tokens that were issued to the directory, kept in memory only. */
export interface TokenCache {
  /**
   * A token that has not expired. It is refreshed in the background before it expires, and requested if there is none;
   * concurrent callers share one request. A failure is kept for a short time, so that calls do not flood the endpoint.
   */
  get(key: string, request: () => Promise<IssuedToken>): Promise<string>
  /**
   * Drops a token that the agent has rejected. A token that was requested because of a rejection is kept for a while:
   * if the agent rejects that one too, the tokens are not what is wrong.
   */
  reject(key: string, token: string): void
}

export interface TokenCacheOptions {
  /** Milliseconds; never goes back. */
  readonly monotonic: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

interface CachedToken {
  readonly token: string
  readonly refreshAt: number
  readonly expiresAt: number
}

interface Entry {
  readonly current?: CachedToken
  readonly failed?: { readonly error: unknown; readonly at: number }
  /** When the agent last rejected a token. */
  readonly rejectedAt?: number
}

/** Total characters of the tokens kept; the least recently used are dropped first. */
const MAX_CHARACTERS = 16 << 20
/** Size of an entry besides its token, so that the number of entries is limited too. */
const ENTRY_CHARACTERS = 256
/** Refreshed when this share of the lifetime is left, and up to this share earlier, so that replicas do not meet. */
const REFRESH_SHARE = 0.1
/** A token is not sent in the last part of its lifetime: it has to arrive before it expires. */
const EXPIRY_SHARE = 0.02
const FAILURE_MS = 5000
const REJECTION_MS = 60_000

export function createTokenCache({ monotonic, random }: TokenCacheOptions): TokenCache {
  const entries = new LRUCache<string, Entry>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ current }) => ENTRY_CHARACTERS + (current?.token.length ?? 0),
  })
  const pending = new Map<string, Promise<string>>()

  const keep = ({ token, lifetimeMs }: IssuedToken): CachedToken => ({
    token,
    refreshAt: monotonic() + lifetimeMs * (1 - REFRESH_SHARE * (1 + random())),
    expiresAt: monotonic() + lifetimeMs * (1 - EXPIRY_SHARE),
  })
  const update = (key: string, changes: (entry: Entry) => Entry): void => {
    entries.set(key, changes(entries.peek(key) ?? {}))
  }

  const load = (key: string, request: () => Promise<IssuedToken>): Promise<string> => {
    const running = pending.get(key)
    if (running) return running
    const loading = request().then(
      (issued) => {
        update(key, ({ rejectedAt }) => ({ current: keep(issued), ...(rejectedAt !== undefined && { rejectedAt }) }))
        return issued.token
      },
      (error: unknown) => {
        update(key, (entry) => ({ ...entry, failed: { error, at: monotonic() } }))
        throw error
      },
    )
    const settled = loading.finally(() => pending.delete(key))
    pending.set(key, settled)
    return settled
  }

  return {
    async get(key, request) {
      const { current, failed } = entries.get(key) ?? {}
      const time = monotonic()
      const hasFailed = failed !== undefined && time - failed.at < FAILURE_MS
      if (current && time < current.expiresAt) {
        // A failure is kept, and thrown once the token has expired.
        if (time >= current.refreshAt && !hasFailed) load(key, request).catch(() => {})
        return current.token
      }
      if (hasFailed) throw failed.error
      return load(key, request)
    },

    reject(key, token) {
      const entry = entries.peek(key)
      if (entry?.current?.token !== token) return
      const time = monotonic()
      if (entry.rejectedAt !== undefined && time - entry.rejectedAt < REJECTION_MS) return
      entries.set(key, { rejectedAt: time })
    },
  }
}
