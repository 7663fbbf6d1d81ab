import { SearchError } from '@switchboard/search'
import type { Catalog, CatalogListener } from '../registry/catalog.js'

/** Agents indexed in one step, which takes some milliseconds: searches wait that long. */
const STEP = 10

/** Indexes the words of agents that were loaded in bulk. Until then, filters find them but queries do not. */
export interface WordIndexing extends Required<Pick<CatalogListener, 'changed'>> {
  start(): void
  stop(): void
}

/** @param onError of the text engine, other than that it has stopped */
export function createWordIndexing({ index }: Pick<Catalog, 'index'>, onError: (error: unknown) => void): WordIndexing {
  let state: 'new' | 'idle' | 'running' | 'stopped' = 'new'

  /** The next step is prepared while the engine works on one. */
  const indexAll = async (): Promise<void> => {
    let last: Promise<void> = Promise.resolve()
    while (index.deferred > 0 && state === 'running') {
      const next = index.indexDeferred(STEP)
      await last
      last = next
    }
    await last
  }

  const run = async (): Promise<void> => {
    if (state !== 'idle' || index.deferred === 0) return
    state = 'running'
    // What was lost when the engine stopped is deferred again.
    await indexAll().catch((error: unknown) => error instanceof SearchError || onError(error))
    if (state !== 'running') return
    state = 'idle'
    void run()
  }
  index.onLost(() => void run())

  return {
    changed(_agent, when) {
      // At the start nothing is indexed before all agents are loaded.
      if (when === 'later') void run()
    },
    start() {
      if (state === 'new') state = 'idle'
      void run()
    },
    stop() {
      state = 'stopped'
    },
  }
}
