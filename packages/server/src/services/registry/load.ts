import type { Store } from '../../store/store.js'
import type { Catalog } from './catalog.js'

/** Reads every agent into memory and drops those that no longer exist; returns the cursor to follow changes from. */
export async function loadAgents(store: Store, catalog: Catalog): Promise<string> {
  const { cursor, agents } = await store.load()
  const before = new Set(
    Array.from(catalog.index.select({ conditions: [], view: ({ record }) => record }), ({ record }) => record.id),
  )
  for await (const batch of agents) {
    for (const stored of batch) {
      catalog.apply(stored, { when: 'later' })
      before.delete(stored.id)
    }
  }
  for (const id of before) await catalog.reload(id)
  return cursor
}
