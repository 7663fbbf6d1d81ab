import { randomUUID } from 'node:crypto'
import type { BucketSpending, BucketState, ReplicaStore } from '../../store/replica-store.js'

/** Milliseconds between exchanges: how long the others may not know what happens here. */
const EXCHANGE_MS = 500
/** Milliseconds that a request waits for an exchange at most; then this replica goes on by its own counts. */
const WAIT_MS = 1000
/** The share of a limit that all replicas together may use before they tell each other. */
const AHEAD = 0.1

/** Something that is counted here and by the other replicas. */
export interface Shared {
  /** What to tell the others; it counts as told. */
  report(): { readonly calls?: Readonly<Record<string, number>>; readonly spending?: readonly BucketSpending[] }
  /** The answer to the last report. */
  learn(others: readonly Readonly<Record<string, number>>[], buckets: ReadonlyMap<string, BucketState>): void
}

/** Replicas that hold limits together (docs/adr/0012). */
export interface Replicas {
  /** How many there are. 1: this one is alone, or the store does not respond, so it counts alone. */
  readonly count: number
  /** How much of a limit may be used here before the others are told. */
  aheadOf(limit: number): number
  /** Adds something that is counted together. */
  join(shared: Shared): void
  /** Tells the others what happens here now, and learns the same from them. Resolves in any case, soon. */
  exchange(): Promise<void>
  /** Claims work that one replica does for all; returns the keys that no other has claimed in this time. */
  claim(keys: readonly string[], forMs: number): Promise<ReadonlySet<string>>
  /** Exchanges regularly from now on. */
  start(): Promise<void>
  stop(): Promise<void>
}

export interface ReplicasOptions {
  /** Undefined: no other process can use the store. */
  readonly store: ReplicaStore | undefined
  /** Called when the store no longer responds although there are other replicas, and when it responds again (undefined). */
  readonly onState: (error: unknown) => void
}

export function createReplicas({ store, onState }: ReplicasOptions): Replicas {
  const id = randomUUID()
  const all: Shared[] = []
  let others = 0
  let isLost = false
  /** Requests that wait for the next exchange. */
  let waiting: (() => void)[] = []
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  /** Requests go on at once, and none waits until the store responds again. */
  const lose = (error: unknown, told: readonly (() => void)[]): void => {
    if (!isLost && others > 0) onState(error)
    isLost = true
    for (const resume of [...told, ...waiting]) resume()
    waiting = []
  }

  const exchangeOnce = async (to: ReplicaStore): Promise<void> => {
    const told = waiting
    waiting = []
    const reports = all.map((shared) => shared.report())
    const tooLate = setTimeout(() => lose(new Error(`no response within ${WAIT_MS} ms`), told), WAIT_MS)
    try {
      const news = await to.exchange({
        id,
        calls: Object.assign({}, ...reports.map(({ calls }) => calls)),
        spending: reports.flatMap(({ spending = [] }) => spending),
      })
      others = news.others.length
      const buckets = new Map(news.buckets.map((bucket) => [bucket.key, bucket]))
      for (const shared of all) shared.learn(news.others, buckets)
      if (isLost && others > 0) onState(undefined)
      isLost = false
      for (const resume of told) resume()
    } catch (error) {
      lose(error, told)
    } finally {
      clearTimeout(tooLate)
    }
  }

  /** One at a time. Those who ask during an exchange get the next one: the running one does not tell what they did. */
  const run = (to: ReplicaStore): Promise<void> => {
    running ??= exchangeOnce(to).finally(() => {
      running = undefined
      if (waiting.length > 0 && !isStopped) void run(to)
    })
    return running
  }

  const replicas: Replicas = {
    get count() {
      return isLost ? 1 : others + 1
    },
    aheadOf: (limit) => Math.floor((limit * AHEAD) / replicas.count),
    join: (shared) => void all.push(shared),
    exchange() {
      if (!store || isStopped || isLost) return Promise.resolve()
      const told = new Promise<void>((resolve) => waiting.push(resolve))
      void run(store)
      return told
    },
    // Also while this replica knows of no other: one that has just started may be unknown here.
    claim: async (keys, forMs) => new Set(store ? await store.claim(id, keys, forMs) : keys),
    async start() {
      if (!store) return
      timer = setInterval(() => void run(store), EXCHANGE_MS)
      timer.unref()
      await run(store)
    },
    async stop() {
      isStopped = true
      clearInterval(timer)
      await running
      await store?.leave(id)
    },
  }
  return replicas
}
