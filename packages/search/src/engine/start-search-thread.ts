import { Worker } from 'node:worker_threads'
import type { TextSearch } from '../text-search.js'
import type { Change, FromThread, Request, RequestKind, Requests, ToThread } from './messages.js'
import { SearchError } from './search-error.js'

/**
 * A thread runs JavaScript only: tests import this file from src, but start the built thread. vitest builds first
 * (scripts/vitest-build.mjs).
 */
const PROGRAM = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/engine/search-thread.js' : './search-thread.js',
  import.meta.url,
)

/** Milliseconds: a thread that stops sooner after its start may do so again. */
const STEADY_MS = 10_000
/** Milliseconds until it is started again if it has done so twice; doubled each time. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000

/** One index in the thread. */
export interface ThreadIndex {
  /** Memory used, according to the last response. */
  readonly bytes: TextSearch['bytes']
  change(change: Change): void
  /** @throws {SearchError} */
  request<Kind extends RequestKind>(
    kind: Kind,
    params: Requests[Kind]['params'],
  ): Promise<{ readonly id: number; readonly result: Requests[Kind]['result'] }>
  close(): void
}

/** Listeners of one index. */
export interface ThreadIndexListener {
  /** The thread has started again, with nothing in it. */
  lost(): void
  /** A change could not be made. */
  problem(message: string): void
}

/** A worker thread with any number of indexes. It starts again when it stops, and does not keep the process running. */
export interface SearchThread {
  open(listener: ThreadIndexListener): ThreadIndex
}

let shared: SearchThread | undefined

/** The search thread of this process. */
export const sharedThread = (): SearchThread => {
  shared ??= startSearchThread()
  return shared
}

/** Starts a thread when the first index is opened. */
export function startSearchThread(start = (): Worker => new Worker(PROGRAM, { execArgv: [] })): SearchThread {
  let worker: Worker | undefined
  let reason = ''
  let startedAt = 0
  /** How often in a row the thread has stopped soon. */
  let failures = 0
  let lastIndex = 0
  let lastId = 0
  const pending = new Map<number, { resolve(result: unknown): void; reject(error: SearchError): void }>()
  const indexes = new Map<number, { listener: ThreadIndexListener; bytes: TextSearch['bytes'] }>()
  /** Changes of this turn of the event loop: one message for all costs far less than one for each. */
  let waiting: ToThread[] = []
  let flushing: NodeJS.Immediate | undefined

  /** Takes the request out of those that wait. */
  const take = (id: number): ReturnType<typeof pending.get> => {
    const request = pending.get(id)
    pending.delete(id)
    if (pending.size === 0) worker?.unref()
    return request
  }

  const receive = (message: FromThread): void => {
    const index = indexes.get(message.index)
    if ('problem' in message) index?.listener.problem(message.problem)
    else if ('failed' in message) take(message.id)?.reject(new SearchError('failed', message.failed))
    else {
      if (index) index.bytes = message.bytes
      take(message.id)?.resolve(message.result)
    }
  }

  const launch = (): void => {
    const started = start()
    worker = started
    startedAt = performance.now()
    started.unref()
    started.on('message', (messages: readonly FromThread[]) => {
      for (const message of messages) receive(message)
    })
    started.on('error', (error) => {
      reason = error instanceof Error ? error.message : String(error)
    })
    started.once('exit', handleExit)
  }

  const handleExit = (code: number): void => {
    worker = undefined
    waiting = []
    const error = new SearchError('interrupted', `the search thread has stopped: ${reason || `exit code ${code}`}`)
    failures = performance.now() - startedAt > STEADY_MS ? 0 : failures + 1
    if (failures <= 1) relaunch()
    else setTimeout(relaunch, Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 2))).unref()
    const interrupted = [...pending.values()]
    pending.clear()
    for (const { reject } of interrupted) reject(error)
  }

  const relaunch = (): void => {
    launch()
    for (const { listener } of indexes.values()) listener.lost()
  }

  const flush = (): void => {
    clearImmediate(flushing)
    flushing = undefined
    const messages = waiting
    waiting = []
    if (messages.length > 0) worker?.postMessage(messages)
  }

  /** Sends a search now, and changes and checks with those that follow at once; their order is kept. */
  const send = (message: ToThread): void => {
    if (!worker) return
    waiting.push(message)
    if ('id' in message && message.kind !== 'check') flush()
    else flushing ??= setImmediate(flush)
  }

  return {
    open(listener) {
      const index = ++lastIndex
      const own = { listener, bytes: { words: 0, vectors: 0 } }
      indexes.set(index, own)
      if (lastIndex === 1) launch()
      return {
        get bytes() {
          return own.bytes
        },
        // Without a thread there is nothing to change: everything is put again when it has started.
        change: (change) => send({ index, ...change }),
        async request(kind, params) {
          if (!worker) throw new SearchError('unavailable', 'the search thread stops again and again')
          const id = ++lastId
          const result = new Promise<unknown>((resolve, reject) => pending.set(id, { resolve, reject }))
          worker.ref()
          send({ index, id, kind, ...params } as { index: number } & Request)
          // The thread answers a request with the result of its kind.
          return { id, result: (await result) as Requests[typeof kind]['result'] }
        },
        close() {
          send({ index, kind: 'close' })
          indexes.delete(index)
        },
      }
    },
  }
}
