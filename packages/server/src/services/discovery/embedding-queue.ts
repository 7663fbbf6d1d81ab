import {
  type CachedEmbedder,
  createCachedEmbedder,
  type Embedder,
  EmbeddingError,
  packVectors,
} from '@switchboard/search'
import type { Store } from '../../store/store.js'
import type { Agent, Catalog, When } from '../registry/catalog.js'
import type { Replicas } from '../replicas/replicas.js'
import { createPacer } from '../time-slices.js'
import { divideAgents } from './divide-agents.js'
import type { EmbeddedTexts } from './embedded-texts.js'
import { createQueryEmbedder } from './query-embedder.js'

/** Agents whose stored vectors are looked up at once; enough for several requests to the model. */
const LOOKUP_BATCH = 256
/** Agents embedded at once: enough to keep the model busy, few enough that new agents are found soon. */
const EMBED_BATCH = 16
/** Milliseconds to wait after the model or the store failed. */
const RETRY_MS = 5000
/** Milliseconds between progress reports, and between reports of failures. */
const PROGRESS_MS = 10_000
const FAILURE_MS = 60_000
/** Queries whose vectors are cached: the same queries come again and again. */
const CACHED_QUERIES = 2000

/** Embeds agents in the background, and queries on request. */
export interface EmbeddingQueue {
  /** Agents that wait to be embedded by the model; until then they are found by words and by the static embedding. */
  readonly pending: number
  /** Languages that the model understands. */
  readonly languages: readonly string[] | 'all'
  /** Queues a new or changed agent; those of a bulk load (`later`) come last. */
  changed(agent: Agent, when: When): void
  /** Vectors of a query's texts; with a warning if results by vector are incomplete or missing. */
  embed(texts: readonly string[]): Promise<{ vectors: readonly Float32Array[]; warning?: string }>
  /** Starts to process the queue. */
  start(): void
  stop(): Promise<void>
}

/** One model; the vectors of queries are cached, those of documents are not. */
interface Model {
  readonly documents: Embedder
  readonly queries: CachedEmbedder
}

export interface EmbeddingQueueOptions {
  /** Starts the model, and is retried while it fails; the signal ends it. Undefined: no model. */
  readonly open: ((signal: AbortSignal) => Promise<Embedder>) | undefined
  /** Milliseconds that a query waits for its vectors. */
  readonly queryTimeoutMs: number
  readonly languages: readonly string[] | 'all'
  readonly store: Store
  /** Claims texts to embed; returns those that no other replica has claimed. */
  readonly claim: Replicas['claim']
  readonly catalog: Catalog
  readonly texts: EmbeddedTexts
  readonly onError: (error: unknown) => void
  /** `secondsLeft` at the present speed. */
  readonly onProgress: (progress: { embedded: number; left: number; secondsLeft?: number }) => void
}

export function createEmbeddingQueue({
  open,
  queryTimeoutMs,
  languages,
  store,
  claim,
  catalog,
  texts: embeddedTexts,
  onError,
  onProgress,
}: EmbeddingQueueOptions): EmbeddingQueue {
  const waiting: Record<When, Map<number, Agent>> = { now: new Map(), later: new Map() }
  /** Records whose vectors are in the index. */
  let indexed = new WeakSet<Agent['record']>()
  let opened: Promise<Model> | undefined
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let state: 'new' | 'started' | 'stopped' = 'new'
  const stopping = new AbortController()
  const pace = createPacer()
  let reportedFailureAt = Number.NEGATIVE_INFINITY
  let batchSize = EMBED_BATCH
  let embedded = 0
  let reportedAt = performance.now()
  let startedAt = performance.now()

  const model = (): Promise<Model> => {
    opened ??= openModel().catch((error: unknown) => {
      const reset = (): void => {
        opened = undefined
      }
      setTimeout(reset, RETRY_MS).unref()
      throw error
    })
    return opened
  }

  const openModel = async (): Promise<Model> => {
    if (!open) throw new Error('no embedding model is configured')
    const documents = await open(stopping.signal)
    catalog.index.setDimensions(documents.dimensions, documents.id)
    return { documents, queries: createCachedEmbedder(documents, CACHED_QUERIES) }
  }

  /** A model that keeps failing is not reported for every query. */
  const fail = (error: unknown): void => {
    if (state === 'stopped' || performance.now() - reportedFailureAt < FAILURE_MS) return
    reportedFailureAt = performance.now()
    onError(error)
  }

  const queryEmbedder = createQueryEmbedder({
    model: async () => (await model()).queries,
    timeoutMs: queryTimeoutMs,
    onError: fail,
  })

  /** What is embedded of the agents in progress: reading it takes a tenth of the time that the model takes. */
  const reading = new Map<Agent, { readonly texts: readonly string[]; readonly digest: string }>()
  const read = (agent: Agent) => {
    let known = reading.get(agent)
    if (!known) {
      const texts = embeddedTexts.textsOf(agent)
      known = { texts, digest: embeddedTexts.digestOf(texts) }
      reading.set(agent, known)
    }
    return known
  }
  const digestOf = (agent: Agent): string => read(agent).digest

  const queued = (): number => waiting.now.size + waiting.later.size
  const pending = (): number => queued() + elsewhere.size

  const isCurrent = (agent: Agent): boolean => catalog.byNumber(agent.number)?.record === agent.record

  const elsewhere = divideAgents({
    claim,
    digestOf,
    queueAgain(agents) {
      for (const agent of agents.filter(isCurrent))
        if (!waiting.now.has(agent.number)) waiting.later.set(agent.number, agent)
      run()
    },
  })

  /** Puts vectors into the index; false if they do not fit the model. */
  const addToIndex = (agent: Agent, packed: Uint8Array): boolean => {
    // The agent was removed, or a newer version of it is queued.
    if (!isCurrent(agent)) return true
    if (!catalog.index.putVectors(agent.number, packed)) return false
    indexed.add(agent.record)
    return true
  }

  /** Reuses stored vectors of the same texts, made here or by another replica; returns the agents without any. */
  const reuse = async (embedder: Embedder, agents: readonly Agent[]): Promise<Agent[]> => {
    const left = new Map(agents.map((agent) => [agent.number, agent]))
    await pace()
    for await (const batch of store.vectors(embedder.id, [...left.keys()])) {
      for (const { number, digest, data } of batch) {
        const agent = left.get(number)
        if (agent && digest === digestOf(agent) && addToIndex(agent, data)) left.delete(number)
        const pause = pace()
        if (pause) await pause
      }
    }
    return [...left.values()]
  }

  const embedAgents = async ({ id, embed }: Embedder, agents: readonly Agent[]): Promise<void> => {
    const texts = agents.map((agent) => read(agent).texts)
    const vectors = [...(await embed(texts.flat(), { background: true }))]
    queryEmbedder.responded()
    batchSize = EMBED_BATCH
    const results = agents.map((agent, i) => {
      const data = packVectors(vectors.splice(0, texts[i]?.length))
      return { agent, stored: { number: agent.number, model: id, digest: digestOf(agent), data } }
    })
    await store.putVectors(results.map(({ stored }) => stored))
    for (const { agent, stored } of results) addToIndex(agent, stored.data)
    embedded += agents.length
  }

  /** Embeds a batch or, if that fails, one by one: an agent that the model rejects must not hold up the others. */
  const embedSafely = async (embedder: Embedder, agents: readonly Agent[]): Promise<Agent[]> => {
    try {
      await embedAgents(embedder, agents)
      return [...agents]
    } catch (error) {
      if (error instanceof EmbeddingError && error.code === 'timeout') {
        // In case that these agents are the cause, others come first, and then fewer of these at once.
        for (const agent of agents) postpone(agent)
        batchSize = Math.max(1, batchSize / 2)
        throw error
      }
      const done: Agent[] = []
      for (const agent of agents.length > 1 ? agents : []) {
        await embedAgents(embedder, [agent]).then(
          () => done.push(agent),
          () => undefined,
        )
      }
      if (done.length === 0) throw error
      for (const agent of agents) if (!done.includes(agent)) postpone(agent)
      return done
    }
  }

  const postpone = (agent: Agent): void => {
    finish([agent])
    waiting.later.set(agent.number, agent)
  }

  const finish = (agents: readonly Agent[]): void => {
    for (const agent of agents) {
      reading.delete(agent)
      for (const queue of [waiting.now, waiting.later]) {
        if (queue.get(agent.number) === agent) queue.delete(agent.number)
      }
    }
  }

  /** The next agents: new ones before those of a bulk load. */
  const next = (): Agent[] => {
    const agents: Agent[] = []
    for (const agent of (waiting.now.size > 0 ? waiting.now : waiting.later).values()) {
      if (agents.push(agent) === LOOKUP_BATCH) break
    }
    finish(agents.filter((agent) => !isCurrent(agent)))
    return agents.filter(isCurrent)
  }

  const work = async (): Promise<void> => {
    const { documents } = await model()
    if (embedded === 0) startedAt = performance.now()
    while (queued() > 0 && state === 'started') {
      const isUrgent = waiting.now.size > 0
      const agents = next()
      // What is put into an engine that is lost meanwhile is queued again, and must stay queued.
      const engineState = indexed
      const done = (embedded: readonly Agent[]): void => {
        if (engineState === indexed) finish(embedded)
      }
      const left = new Set(await elsewhere.divide(documents.id, await reuse(documents, agents)))
      done(agents.filter((agent) => !left.has(agent)))
      const embedNext = async (): Promise<void> => {
        while (left.size > 0 && state === 'started') {
          const batch = [...left].slice(0, batchSize)
          for (const agent of batch) left.delete(agent)
          done(await embedSafely(documents, batch))
          report()
          // New agents go before those of a bulk load.
          if (!isUrgent && waiting.now.size > 0) break
        }
      }
      // All of them settle before an error ends this: none of them may be embedded twice.
      const lanes = await Promise.allSettled(Array.from({ length: documents.concurrency ?? 1 }, embedNext))
      for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
    }
    if (embedded > 0) report(true)
  }

  const report = (isEnd = false): void => {
    if (!isEnd && performance.now() - reportedAt < PROGRESS_MS) return
    reportedAt = performance.now()
    const left = pending()
    const secondsLeft = embedded > 0 ? Math.ceil((left * (reportedAt - startedAt)) / embedded / 1000) : undefined
    onProgress({ embedded, left, ...(secondsLeft !== undefined && { secondsLeft }) })
    if (isEnd) embedded = 0
  }

  const run = (): void => {
    if (running || state !== 'started' || queued() === 0 || !open) return
    clearTimeout(timer)
    running = work()
      .then(
        () => 0,
        (error: unknown) => {
          fail(error)
          return RETRY_MS
        },
      )
      .then((pauseMs) => {
        running = undefined
        reading.clear()
        if (queued() > 0) timer = setTimeout(run, pauseMs).unref()
      })
  }

  catalog.index.onLost(() => {
    if (!open) return
    indexed = new WeakSet()
    for (const agent of catalog.index.select({ conditions: [], view: ({ record }) => record }))
      if (!waiting.now.has(agent.number)) waiting.later.set(agent.number, agent)
    run()
  })

  return {
    get pending() {
      return open ? pending() : 0
    },
    languages,
    changed(agent, when) {
      if (!open || indexed.has(agent.record)) return
      waiting[when === 'now' ? 'later' : 'now'].delete(agent.number)
      waiting[when].set(agent.number, agent)
      run()
    },
    async embed(texts) {
      if (!open) return { vectors: [] }
      const vectors = await queryEmbedder.embed(texts)
      if (!vectors) return { vectors: [], warning: NO_VECTORS }
      return { vectors, ...(pending() > 0 && { warning: SOME_PENDING }) }
    },
    start() {
      state = 'started'
      run()
    },
    async stop() {
      state = 'stopped'
      clearTimeout(timer)
      stopping.abort(new EmbeddingError('closed', 'the directory is stopping'))
      const last = await opened?.catch(() => undefined)
      await last?.documents.close()
      await running
    },
  }
}

const SOME_PENDING = 'some agents are still being embedded; their ranking will be refined'
const NO_VECTORS = 'the embedding model is not responding; the ranking is less precise'
