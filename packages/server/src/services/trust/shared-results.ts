import type { JsonObject } from '@switchboard/protocol'
import type { TrustEntry, TrustKind, TrustStore } from '../../store/trust-store.js'

/** The last results of one kind of check by the agent's id; they survive a restart, and replicas share them. */
export interface SharedResults {
  of(id: string): JsonObject | undefined
  save(id: string, result: JsonObject): Promise<void>
  /** Ids of the agents about which another replica may have found out something; asks the store now and then. */
  news(): Promise<readonly string[]>
}

export interface SharedResultsOptions {
  readonly store: TrustStore
  readonly kind: TrustKind
  readonly now: () => number
}

/** How long the result of a removed agent is kept. */
const KEPT_MS = 90 * 86_400_000
/** Milliseconds between reads of what another replica has found out, and by which their clocks may differ. */
const SYNC_MS = 10_000
const OVERLAP_MS = 60_000

export async function createSharedResults({ store, kind, now }: SharedResultsOptions): Promise<SharedResults> {
  const entries = new Map<string, TrustEntry>()
  let readAt = Number.NEGATIVE_INFINITY

  const read = async (since: number): Promise<TrustEntry[]> => {
    const found = await store.list(kind, since)
    for (const entry of found) entries.set(entry.key, entry)
    return found
  }
  await read(0)

  return {
    of: (id) => entries.get(id)?.value,
    async save(key, value) {
      const version = entries.get(key)?.version ?? 0
      const entry: TrustEntry = { kind, key, version, value, at: now(), expiresAt: now() + KEPT_MS }
      if (await store.put(entry)) {
        entries.set(key, { ...entry, version: version + 1 })
        return
      }
      // Another replica was faster, or the entry has been pruned: the next result is based on what there is now.
      const current = await store.get(kind, key)
      if (current) entries.set(key, current)
      else entries.delete(key)
    },
    async news() {
      // The clock may have been set back since.
      if (Math.abs(now() - readAt) < SYNC_MS) return []
      const since = Math.max(0, Math.min(readAt, now()) - OVERLAP_MS)
      readAt = now()
      return (await read(since)).map(({ key }) => key)
    },
  }
}
