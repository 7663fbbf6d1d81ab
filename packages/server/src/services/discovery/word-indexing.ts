import type { Catalog, CatalogListener } from '../registry/catalog.js'
import { createSlicedWork, type SlicedWork } from '../time-slices.js'

/** Agents indexed in one step: about a millisecond. */
const STEP = 10

/** Indexes the words of agents that were loaded in bulk. Until then, filters find them but queries do not. */
export interface WordIndexing extends Required<Pick<CatalogListener, 'changed'>> {
  start(): void
  stop(): void
}

export function createWordIndexing(catalog: Catalog): WordIndexing {
  let work: SlicedWork | undefined
  return {
    changed(_agent, when) {
      // At the start nothing is indexed before all agents are loaded.
      if (when === 'later') work?.run()
    },
    start() {
      work ??= createSlicedWork(() => catalog.index.indexDeferred(STEP) > 0)
      if (catalog.index.deferred > 0) work.run()
    },
    stop: () => work?.stop(),
  }
}
