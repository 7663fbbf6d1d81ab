import type { Store } from '../../store/store.js'
import type { Catalog } from './catalog.js'

/** Reads every agent into memory and forgets those that are gone; returns the cursor from which to follow. */
export async function loadAgents(store: Store, catalog: Catalog): Promise<string> {
  const { cursor, agents } = await store.load()
  const before = new Set(
    Array.from(catalog.index.select({ conditions: [], view: ({ record }) => record }), ({ record }) => record.id),
  )
  for await (const batch of agents) {
    for (const stored of batch) {
      catalog.apply(stored, 'later')
      before.delete(stored.id)
    }
  }
  for (const id of before) await catalog.reload(id)
  return cursor
}

/** Agents whose words are taken in at once, and milliseconds until the next: a third of a core, so that requests go first. */
const SLICE = 20
const PAUSE_MS = 2

/** Takes in the words of the agents that were loaded, little by little; a search that comes first takes the rest. */
export function catchUpWords(catalog: Catalog): void {
  if (catalog.index.catchUp(SLICE) > 0) setTimeout(catchUpWords, PAUSE_MS, catalog).unref()
}
