import { createHash } from 'node:crypto'
import { createCachedEmbedder, type Embedder, meaningTextsOf, packVectors } from '@switchboard/search'
import type { Store } from '../../store/store.js'
import type { Agent, Catalog } from '../registry/catalog.js'

/** Agents whose kept vectors are asked for at once. */
const LOOKED_UP = 256
/** Agents embedded in one go: enough to keep the model busy, few enough to be found soon. */
const EMBEDDED = 16
/** After a model or a store that failed. */
const RETRY_MS = 5000
/** How often the log says how far it has come with many agents. */
const PROGRESS_MS = 10_000
/** Queries whose vectors are remembered: people and programs ask the same things again. */
const KEPT_QUERIES = 2000

/** Lets agents be found by meaning: makes their vectors in the background, and those of queries when they come. */
export interface EmbeddingQueue {
  /** Agents that are stored but not yet found by meaning. */
  readonly pending: number
  /** Languages that the model reads. */
  readonly languages: readonly string[] | 'all'
  /** An agent that is new or has changed; `later`: one of many, after those that are waited for. */
  note(agent: Agent, when: 'now' | 'later'): void
  /** Vectors of a query's texts, and what the caller should know where meaning answers in part or not at all. */
  embed(texts: readonly string[]): Promise<{ vectors: readonly Float32Array[]; warning?: string }>
  /** Begins to work at what was noted. */
  start(): void
  stop(): Promise<void>
}

/** One model, which remembers what queries mean and not what documents do. */
interface Model {
  readonly documents: Embedder
  readonly queries: Embedder
}

export interface EmbeddingQueueOptions {
  /** Starts the model; tried again while it fails. Undefined: there is none, words alone answer. */
  readonly open: (() => Promise<Embedder>) | undefined
  readonly languages: readonly string[] | 'all'
  readonly store: Store
  readonly catalog: () => Catalog
  readonly onError: (error: unknown) => void
  readonly onProgress: (progress: { embedded: number; left: number }) => void
}

export function createEmbeddingQueue({
  open,
  languages,
  store,
  catalog,
  onError,
  onProgress,
}: EmbeddingQueueOptions): EmbeddingQueue {
  const waiting = { now: new Map<number, Agent>(), later: new Map<number, Agent>() }
  /** Records whose vectors are in the index. */
  const made = new WeakSet<Agent['record']>()
  let opened: Promise<Model> | undefined
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let state: 'new' | 'started' | 'stopped' = 'new'
  let failing = false
  let embedded = 0
  let told = Date.now()

  const model = (): Promise<Model> => {
    opened ??= openModel().catch((error: unknown) => {
      const forget = (): void => {
        opened = undefined
      }
      setTimeout(forget, RETRY_MS).unref()
      throw error
    })
    return opened
  }

  const openModel = async (): Promise<Model> => {
    if (!open) throw new Error('there is no model')
    const documents = await open()
    catalog().index.setDimensions(documents.dimensions)
    return { documents, queries: createCachedEmbedder(documents, KEPT_QUERIES) }
  }

  /** Told once, until it works again. */
  const fail = (error: unknown): void => {
    if (!failing && state !== 'stopped') onError(error)
    failing = true
  }

  const pending = (): number => waiting.now.size + waiting.later.size

  const isCurrent = (agent: Agent): boolean => catalog().byNumber(agent.number)?.record === agent.record

  const take = (agent: Agent, packed: Uint8Array): boolean => {
    // Another version of it has been noted meanwhile, or it is gone.
    if (!isCurrent(agent)) return true
    if (!catalog().index.putVectors(agent.number, packed)) return false
    made.add(agent.record)
    return true
  }

  /** Takes in what was made of the same texts before, here or by another replica; returns the agents without. */
  const reuse = async (embedder: Embedder, agents: readonly Agent[]): Promise<Agent[]> => {
    const left = new Map(agents.map((agent) => [agent.number, agent]))
    for await (const batch of store.vectors(embedder.id, [...left.keys()])) {
      for (const { number, digest, data } of batch) {
        const agent = left.get(number)
        if (agent && digest === digestOf(agent) && take(agent, data)) left.delete(number)
      }
    }
    return [...left.values()]
  }

  const embedAgents = async ({ id, embed }: Embedder, agents: readonly Agent[]): Promise<void> => {
    const texts = agents.map(textsOf)
    const vectors = [...(await embed(texts.flat()))]
    const results = agents.map((agent, i) => {
      const data = packVectors(vectors.splice(0, texts[i]?.length))
      return { agent, stored: { number: agent.number, model: id, digest: digestOf(agent), data } }
    })
    await store.putVectors(results.map(({ stored }) => stored))
    for (const { agent, stored } of results) take(agent, stored.data)
    embedded += agents.length
  }

  /** Embeds together or, if that fails, one by one: what a model cannot take must not hold up the rest. */
  const embedSafely = async (embedder: Embedder, agents: readonly Agent[]): Promise<Agent[]> => {
    try {
      await embedAgents(embedder, agents)
      return [...agents]
    } catch (error) {
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
      for (const queue of [waiting.now, waiting.later]) {
        if (queue.get(agent.number) === agent) queue.delete(agent.number)
      }
    }
  }

  /** Those that are waited for, else some of the many. */
  const next = (): Agent[] => {
    const agents: Agent[] = []
    for (const agent of (waiting.now.size > 0 ? waiting.now : waiting.later).values()) {
      if (agents.push(agent) === LOOKED_UP) break
    }
    finish(agents.filter((agent) => !isCurrent(agent)))
    return agents.filter(isCurrent)
  }

  const work = async (): Promise<void> => {
    const { documents } = await model()
    while (pending() > 0 && state === 'started') {
      const isUrgent = waiting.now.size > 0
      const agents = next()
      const left = new Set(await reuse(documents, agents))
      finish(agents.filter((agent) => !left.has(agent)))
      while (left.size > 0 && state === 'started') {
        const batch = [...left].slice(0, EMBEDDED)
        finish(await embedSafely(documents, batch))
        for (const agent of batch) left.delete(agent)
        report()
        // What came meanwhile and is waited for goes before the many.
        if (!isUrgent && waiting.now.size > 0) break
      }
      failing = false
    }
    if (embedded > 0) report(true)
  }

  const report = (isEnd = false): void => {
    if (!isEnd && Date.now() - told < PROGRESS_MS) return
    told = Date.now()
    onProgress({ embedded, left: pending() })
    if (isEnd) embedded = 0
  }

  const run = (): void => {
    if (running || state !== 'started' || pending() === 0 || !open) return
    clearTimeout(timer)
    running = work()
      .catch(fail)
      .finally(() => {
        running = undefined
        if (pending() > 0) timer = setTimeout(run, failing ? RETRY_MS : 0).unref()
      })
  }

  return {
    get pending() {
      return open ? pending() : 0
    },
    languages,
    note(agent, when) {
      if (!open || made.has(agent.record)) return
      waiting[when === 'now' ? 'later' : 'now'].delete(agent.number)
      waiting[when].set(agent.number, agent)
      run()
    },
    async embed(texts) {
      if (!open) return { vectors: [] }
      try {
        const { queries } = await model()
        const vectors = await queries.embed(texts)
        return { vectors, ...(pending() > 0 && { warning: SOME_PENDING }) }
      } catch (error) {
        fail(error)
        return { vectors: [], warning: NO_MEANING }
      }
    },
    start() {
      state = 'started'
      run()
    },
    async stop() {
      state = 'stopped'
      clearTimeout(timer)
      const last = await opened?.catch(() => undefined)
      await last?.documents.close()
      await running
    },
  }
}

const SOME_PENDING = 'some agents are not yet found by meaning: they are being read in the background'
const NO_MEANING = 'search by meaning does not answer now: words alone were used'

/** What the model is told of an agent: nothing that is private. */
const textsOf = ({ shown }: Agent): string[] => meaningTextsOf(shown).map(({ text }) => text)

/** Other texts need other vectors; a document that changed elsewhere keeps those it has. */
function digestOf(agent: Agent): string {
  const hash = createHash('sha1')
  for (const text of textsOf(agent)) hash.update(text).update('\0')
  return hash.digest('base64url')
}
