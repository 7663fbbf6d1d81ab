import { isSearchOutage, type TextEngine } from '@switchboard/search'
import type { Catalog, CatalogListener } from '../registry/catalog.js'

/** Agents indexed in one step, which takes some milliseconds: searches wait that long. */
const STEP = 10
/** Milliseconds to wait after the engine could not index. */
const RETRY_MS = 1000
/** Milliseconds between two attempts to save the index. */
const SAVE_MS = 120_000

/** Indexes the words of agents that were loaded in bulk. Until then, filters find them but queries do not. */
export interface WordIndexing extends Required<Pick<CatalogListener, 'changed'>> {
  /** Goes on from the saved index, when all agents are loaded. */
  restore(): Promise<void>
  start(): void
  stop(): void
  /** Saves the index for the next start, if it is complete. */
  save(): Promise<void>
}

export interface WordIndexingOptions {
  readonly index: Pick<Catalog['index'], 'deferred' | 'indexDeferred' | 'adopt' | 'onLost'>
  /** The engine of this index. */
  readonly engine: Pick<TextEngine, 'save'>
  /** Failures of the engine, other than an outage. */
  readonly onError: (error: unknown) => void
}

export function createWordIndexing({ index, engine, onError }: WordIndexingOptions): WordIndexing {
  let state: 'new' | 'idle' | 'running' | 'stopped' = 'new'
  let timer: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined

  /** The next step is prepared while the engine works on one. */
  const indexAll = async (): Promise<void> => {
    let last: Promise<void> = Promise.resolve()
    while (index.deferred > 0 && state === 'running') {
      const next = index.indexDeferred(STEP)
      next.catch(() => {}) // it is awaited in the next round, unless the last one fails before
      await last
      last = next
    }
    await last
  }

  /** What is lost in an outage is deferred again, or stays in the queue of the engine. */
  const fail = (error: unknown): void => {
    if (!isSearchOutage(error)) onError(error)
  }

  const run = async (): Promise<void> => {
    if (state !== 'idle' || index.deferred === 0) return
    state = 'running'
    const isDone = await indexAll().then(
      () => true,
      (error: unknown) => {
        fail(error)
        return false
      },
    )
    if (state !== 'running') return
    state = 'idle'
    if (!isDone) retry = setTimeout(() => void run(), RETRY_MS).unref()
    else if (index.deferred > 0) void run()
    else await save()
  }
  index.onLost(() => void run())

  const save = async (): Promise<void> => {
    // The file may have the agents that are still missing here.
    if (index.deferred === 0) await engine.save().catch(fail)
  }

  return {
    changed(_agent, when) {
      // At the start nothing is indexed before all agents are loaded.
      if (when === 'later') void run()
    },
    restore: () => index.adopt().catch(fail),
    start() {
      if (state === 'new') state = 'idle'
      timer = setInterval(() => void save(), SAVE_MS).unref()
      void run()
    },
    stop() {
      state = 'stopped'
      clearInterval(timer)
      clearTimeout(retry)
    },
    save,
  }
}
