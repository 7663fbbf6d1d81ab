import type { Store } from '../../store/store.js'
import type { Catalog } from './catalog.js'

/**
 * Reads every agent into memory and drops those that no longer exist; returns the cursor to follow changes from. The store
 * may be older than what is in memory, after it was restored from a backup; only what is written meanwhile is newer.
 */
export async function loadAgents(store: Store, catalog: Catalog): Promise<string> {
  // Before the store is read: what changes from here on is not older than what will be read.
  const before = new Map(
    Array.from(catalog.index.select({ conditions: [], view: ({ record }) => record }), (agent) => [
      agent.record.id,
      agent,
    ]),
  )
  const { cursor, revision, agents } = await store.load()
  catalog.rewind(revision)
  for await (const batch of agents) {
    for (const stored of batch) {
      catalog.apply(stored, { when: 'later', over: before.get(stored.id) })
      before.delete(stored.id)
    }
  }
  for (const id of before.keys()) await catalog.reload(id)
  return cursor
}
