import { DirectoryError } from '@switchboard/protocol'
import type { StoreFault, StoreHealth } from '../../store/store-health.js'

/** What the state of the store means for those who read from memory. */
export interface StoreStatus {
  readonly fault: StoreFault | undefined
  /** The memory has all changes up to this time, in milliseconds since 1970. */
  readonly syncedAt: number
  /** Since when changes of other replicas may be missing here; undefined if none are. */
  readonly staleSince: number | undefined
  /** Since when the directory does not work as it should: writes fail, or what it serves is stale. */
  readonly degradedSince: number | undefined
  /** For responses that are made from memory: how stale they are, if they are. */
  warnings(): readonly string[]
  /** Throws `unavailable` if what is known about API keys is too old: they may have been revoked. */
  assertKeysKnown(): void
  /** The changes up to this time have been applied. */
  synced(at: number): void
  /** Changes could not be read. */
  missed(): void
}

export interface StoreStatusOptions {
  readonly health: Pick<StoreHealth, 'fault'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Seconds for which API keys are accepted without knowing whether they were revoked. */
  readonly keysMaxStaleSeconds: number
}

/** Seconds. */
const KEYS_RETRY = 5

export function createStoreStatus({ health, now, keysMaxStaleSeconds }: StoreStatusOptions): StoreStatus {
  let syncedAt = now()
  let isStale = false
  const staleSince = (): number | undefined => (isStale ? syncedAt : undefined)

  return {
    get fault() {
      return health.fault
    },
    get syncedAt() {
      return syncedAt
    },
    get staleSince() {
      return staleSince()
    },
    get degradedSince() {
      return staleSince() ?? health.fault?.since
    },
    warnings() {
      const since = staleSince()
      if (since === undefined) return []
      return [`the database is not reachable: this is the state of ${new Date(since).toISOString()}`]
    },
    assertKeysKnown() {
      const since = staleSince()
      if (since === undefined || now() - since <= keysMaxStaleSeconds * 1000) return
      throw new DirectoryError(
        'unavailable',
        'the database has been unreachable for so long that API keys may have been revoked: try again later',
        { retryAfter: KEYS_RETRY },
      )
    },
    synced(at) {
      syncedAt = at
      isStale = false
    },
    missed() {
      isStale = true
    },
  }
}
