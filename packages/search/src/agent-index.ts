import { setImmediate } from 'node:timers/promises'
import { redactRecord } from '@switchboard/protocol'
import { agentTextOf } from './agent-text.js'
import { type Term, termsOf } from './conditions.js'
import { createLocalEngine } from './engine/local-engine.js'
import type { TextEngine } from './engine/text-engine.js'
import { createFacetCounter, type FacetCounter } from './facets.js'
import { cutPage, type ListedPage, type ListOptions } from './list-page.js'
import { createNameOrder, sortByName } from './name-order.js'
import { NumberSet } from './number-set.js'
import { PostingLists } from './posting-lists.js'
import { createDirectionFit } from './ranking/direction.js'
import { type AgentPart, embeddingTextsOf } from './ranking/embedding-texts.js'
import type { Query } from './ranking/read-query.js'
import { createAgentSelector, type IndexedAgent, type Narrowed, type Selection, type Work } from './select-agents.js'
import {
  type Adjustments,
  createTextSearch,
  type FoundBecause,
  type TextHit,
  type TextSearchOptions,
} from './text-search.js'
import { isPacked } from './vectors/packed-vectors.js'
import type { WordMatch } from './words/word-index.js'

/** A parsed query (`readQuery`) and its embeddings. */
export interface TextQuery {
  readonly query: Query
  /** The model's vector for each of `query.texts`. Empty: rank without them. */
  readonly vectors: readonly Float32Array[]
}

/** Paging and score adjustments of a search. */
export interface SearchOptions<T> {
  readonly skip: number
  readonly take: number
  /** Multiplier for the score of an agent, for factors other than relevance: status, freshness, abuse. Default: 1. */
  readonly scoreFactor?: (agent: T) => number
  /**
   * Preferences of the query: how far the score of a re-ranked agent is raised, from 0 (not at all) to 1 (to a score
   * of 1). Applied after near-duplicates are moved down.
   */
  readonly boost?: ((agent: T) => number) | undefined
  /** Called when the candidates are found and ranking begins, to measure both. */
  readonly onCandidates?: () => void
  /** Whether to list all matches. */
  readonly all?: boolean
}

/** One search result. */
export interface Ranked<T> extends Omit<TextHit, 'number'> {
  readonly agent: T
  /** 0 to 1, higher is better; comparable between queries. */
  readonly score: number
}

/** One page of search results. */
export interface RankedPage<T> extends Work {
  /** Best first; ties in registration order. */
  readonly ranked: readonly Ranked<T>[]
  /** Number of matches on all pages. */
  readonly total: number
  /** All matches, in no particular order; empty unless the search asked for them. */
  readonly matches: readonly T[]
  /** Whether the words of all agents were indexed. */
  readonly isComplete: boolean
}

/** Similarity of a query to one part of an agent. */
export interface PartMatch {
  readonly part: AgentPart
  /** Cosine, -1 to 1. */
  readonly similarity: number
}

/** Why an agent was found. */
export interface TextEvidence {
  readonly words: readonly WordMatch[]
  /** Best first; empty without embeddings. */
  readonly parts: readonly PartMatch[]
}

/** How many of the best are compared with the direction of a request; reading their texts takes time. */
const DIRECTED_RESULTS = 30
/** If one agent in this many passes the filters, sorting those by name takes less time than to go through all names. */
const FEW = 16
/** Agents whose facets are learned in one step, which takes about a millisecond. */
const LEARNED_AT_ONCE = 200

const keyOf = ({ kind, value }: Term): string => `${kind} ${value}`

/** Everything that is embedded for an agent, as one string. */
const embeddedText = ({ record }: IndexedAgent): string =>
  embeddingTextsOf(redactRecord(record))
    .map(({ text }) => text)
    .join('\n')

/**
 * An index over all agents of a directory: by id, number and filters in memory; by words and embeddings in a text engine,
 * which may run elsewhere.
 */
export interface AgentIndex<T extends IndexedAgent> {
  readonly size: number
  /** Changes with everything that searches by text and by indexed conditions depend on, except score factors. */
  readonly version: number
  /** Memory used by the word index and by the vectors. */
  readonly bytes: TextEngine['bytes']
  get(id: string): T | undefined
  byNumber(number: number): T | undefined
  /**
   * Adds or replaces an agent; filters find it when this returns. With `later`, a new agent is found by text only after
   * `indexDeferred` has indexed its words.
   */
  put(agent: T, words?: 'now' | 'later'): void
  /** Number of agents whose words are not indexed yet. */
  readonly deferred: number
  /** Begins to index the words of up to `limit` deferred agents; resolves when it is done. */
  indexDeferred(limit: number): Promise<void>
  /**
   * Lets the text engine go on with what it held when it was opened: deferred agents that it holds in the same version
   * are not indexed again, and those that no longer exist are removed. Call it once, when all agents are put.
   */
  adopt(): Promise<void>
  /** Called when the text engine has lost everything: all agents are deferred again, and have no vectors of the model. */
  onLost(listener: () => void): void
  /**
   * Sets the dimensions of the model's embeddings, and drops the vectors of another model. Until it is called, search does
   * without.
   */
  setDimensions(dimensions: number, model?: string): void
  /** Sets the model's vectors of the agent's `embeddingTextsOf`, packed by `packVectors`; false if they do not fit. */
  putVectors(number: number, packed: Uint8Array): boolean
  remove(id: string): void
  /** All agents that pass the filters, in registration order. */
  select(selection: Selection<T>): Iterable<T>
  /** One page of them. */
  list(selection: Selection<T>, options: ListOptions): ListedPage<T> & Work
  /** Agents that pass the filters and match the query by words or embeddings, ranked. */
  search(text: TextQuery, selection: Selection<T>, options: SearchOptions<T>): Promise<RankedPage<T>>
  /**
   * Parses a query. Words that no public agent contains are corrected towards words that public agents contain; what
   * private agents contain counts only as far as the caller sees them.
   */
  readonly read: TextEngine['read']
  /** Words of public agents that are similar to the unknown words of a query. */
  readonly suggest: TextEngine['suggest']
  /** Counts the values of agents, such as of all matches. */
  readonly count: FacetCounter['count']
  /** Why each of the agents matches a query, based on its public content only. */
  evidence(text: TextQuery, agents: readonly T[]): Promise<TextEvidence[]>
}

/** Options of `createAgentIndex`; those of text search have no effect on an `engine`. */
export interface AgentIndexOptions<T> extends Omit<TextSearchOptions, 'saved'> {
  /** Searches by text. Default: one in this thread. */
  readonly engine?: TextEngine | undefined
  /**
   * A number that changes with the agent's record, and is the same after a restart. An engine that keeps its index needs it:
   * it does not replace a text of the same version. Default: 0 for all.
   */
  readonly versionOf?: (agent: T) => number
}

/**
 * Creates an empty index.
 *
 * @example
 * const index = createAgentIndex<IndexedAgent>()
 * index.put({ number: 1, status: 'active', record })
 * const text = { query: readQuery('translate a contract'), vectors: [] }
 * const { ranked } = await index.search(text, { conditions: [], view: (agent) => agent.record }, { skip: 0, take: 10 })
 */
export function createAgentIndex<T extends IndexedAgent>({
  engine,
  versionOf = () => 0,
  ...options
}: AgentIndexOptions<T> = {}): AgentIndex<T> {
  const byId = new Map<string, T>()
  const byNumber = new Map<number, T>()
  const postings = new PostingLists()
  /** Agents without private content, those that everybody sees but only some see whole, and those that only some see. */
  const open = new NumberSet()
  const partlyPrivate = new NumberSet()
  const hidden = new NumberSet()
  const names = createNameOrder<T>(
    () => [...open, ...partlyPrivate],
    (number) => byNumber.get(number),
  )
  const texts = engine ?? createLocalEngine(createTextSearch(options))
  const facets = createFacetCounter()
  let version = 0
  let dimensions: number | undefined
  let modelId: string | undefined
  /** Agents whose words are not indexed yet: at startup there are many, and serving need not wait for them. */
  const deferred = new Map<number, T>()

  function* agentsOf(numbers: Iterable<number>): Generator<T> {
    for (const number of numbers) {
      const agent = byNumber.get(number)
      if (agent) yield agent
    }
  }
  const privateAgents = (): Iterable<T> => agentsOf(hidden)

  const { narrow, select } = createAgentSelector<T>({ byId, byNumber, postings, open, partlyPrivate, privateAgents })

  const classOf = ({ record }: T): NumberSet => {
    if (record.visibility === 'private') return hidden
    return redactRecord(record) === record ? open : partlyPrivate
  }

  const remove = (id: string): void => {
    const agent = byId.get(id)
    if (!agent) return
    version++
    byId.delete(id)
    byNumber.delete(agent.number)
    names.remove(agent)
    classOf(agent).delete(agent.number)
    for (const { kind, value } of termsOf(agent)) postings.remove(value, agent.number, kind)
    deferred.delete(agent.number)
    facets.forget(agent.number)
    texts.remove(agent.number)
  }

  const indexWords = (agent: T): void => {
    const { number, record } = agent
    deferred.delete(number)
    facets.learn(number, record)
    // Private members are not indexed: a hit would reveal their content.
    texts.put(number, agentTextOf(redactRecord(record)), record.visibility !== 'private', versionOf(agent))
  }

  /** In steps: counting would have to do it at once. */
  const learnFacets = async (agents: readonly T[]): Promise<void> => {
    for (const [position, { number, record }] of agents.entries()) {
      if (byNumber.get(number)?.record === record) facets.learn(number, record)
      if (position % LEARNED_AT_ONCE === 0) await setImmediate()
    }
  }

  const adopt = async (): Promise<void> => {
    const adopted: T[] = []
    for (const [number, held] of await texts.versions()) {
      const agent = byNumber.get(number)
      if (!agent) texts.remove(number)
      // They may represent text that has become private.
      else if (versionOf(agent) !== held) texts.removeVectors(number)
      else if (deferred.delete(number)) adopted.push(agent)
    }
    version++
    void learnFacets(adopted)
  }

  const indexDeferred = (limit: number): Promise<void> => {
    let left = limit
    for (const agent of deferred.values()) {
      if (left-- <= 0) break
      indexWords(agent)
    }
    version++
    return texts.settled()
  }

  const lostListeners: (() => void)[] = []
  let losses = 0
  texts.onLost(() => {
    version++
    losses++
    for (const agent of byNumber.values()) deferred.set(agent.number, agent)
    if (dimensions !== undefined) texts.setDimensions(dimensions, modelId)
    for (const listener of lostListeners) listener()
  })

  const replace = (before: T, agent: T): void => {
    const { number } = agent
    const isSame = before.record === agent.record && before.status === agent.status
    if (!isSame || before.owner !== agent.owner) version++
    if (isSame) return
    const terms = [...termsOf(agent)]
    const stay = new Set(terms.map(keyOf))
    for (const term of termsOf(before)) if (!stay.has(keyOf(term))) postings.remove(term.value, number, term.kind)
    for (const { kind, value } of terms) postings.add(value, number, kind)
    if (before.record === agent.record) return
    classOf(before).delete(number)
    classOf(agent).add(number)
    names.put(agent, before)
    indexWords(agent)
    // The old vectors may represent text that has become private.
    if (embeddedText(before) !== embeddedText(agent)) texts.removeVectors(number)
  }

  const put = (agent: T, words: 'now' | 'later' = 'now'): void => {
    const { number, record } = agent
    const before = byId.get(record.id)
    if (before && before.number !== number) remove(record.id)
    byId.set(record.id, agent)
    byNumber.set(number, agent)
    if (before?.number === number) {
      replace(before, agent)
      return
    }
    version++
    classOf(agent).add(number)
    names.put(agent)
    for (const { kind, value } of termsOf(agent)) postings.add(value, number, kind)
    if (words === 'later') deferred.set(number, agent)
    else indexWords(agent)
  }

  const list = (selection: Selection<T>, options: ListOptions): ListedPage<T> & Work => {
    const work = { visited: 0 }
    const narrowed = narrow(selection, work)
    const page = options.order === 'name' ? listByName(selection, narrowed, options) : listByNumber(narrowed, options)
    return { ...page, visited: work.visited + page.agents.length }
  }

  const listByNumber = ({ numbers, accept }: Narrowed<T>, options: ListOptions): ListedPage<T> => {
    const { order, skip } = options
    const from = (start: number): Iterable<T> =>
      agentsOf(order === 'newest' ? numbers.descending(start) : numbers.ascending(start))
    if (accept) return cutPage(from(0), accept, options)
    return { ...cutPage(from(skip), () => true, { ...options, skip: 0, exactTotal: false }), total: numbers.size }
  }

  const listByName = (selection: Selection<T>, narrowed: Narrowed<T>, options: ListOptions): ListedPage<T> => {
    const { numbers, accept = () => true } = narrowed
    const { skip, take } = options
    const total = narrowed.accept ? undefined : numbers.size
    const shown = [...(selection.privateAgents ?? privateAgents)()]
    if (total === open.size + partlyPrivate.size && shown.length === 0) {
      const agents = names.slice(skip, skip + take)
      if (agents) return { agents, total }
    }
    const nameOf = (agent: T): string => (open.has(agent.number) ? agent.record : selection.view(agent))?.name ?? ''
    const sorted = numbers.size * FEW < open.size ? sortByName(agentsOf(numbers), nameOf) : names.all(shown, nameOf)
    return cutPage(sorted, (agent) => numbers.has(agent.number) && accept(agent), options, total)
  }

  /** What counts besides the query. An agent may have been removed since it was found: it is left out at the end. */
  const adjustmentsOf = (
    numbers: readonly number[],
    query: Query,
    { scoreFactor, boost }: SearchOptions<T>,
  ): Adjustments => {
    const agents = numbers.map((number) => byNumber.get(number))
    const fit = createDirectionFit(query)
    const each = (value: (agent: T) => number, otherwise: number, limit = agents.length): Float64Array =>
      Float64Array.from(agents.slice(0, limit), (agent) => (agent ? value(agent) : otherwise))
    return {
      factors: scoreFactor && each(scoreFactor, 1),
      boosts: boost && each(boost, 0),
      directions: fit && each(({ record }) => fit(redactRecord(record)), 0, DIRECTED_RESULTS),
      publishers: agents.map((agent) => agent?.owner ?? agent?.record.publisher),
    }
  }

  const evidenceOf = ({ record }: T, { words, parts }: FoundBecause): TextEvidence => {
    const texts = embeddingTextsOf(redactRecord(record))
    return {
      words,
      parts: parts.flatMap(({ position, similarity }) => {
        const part = texts[position]?.part
        return part ? [{ part, similarity }] : []
      }),
    }
  }

  return {
    get size() {
      return byId.size
    },
    get version() {
      return version
    },
    get bytes() {
      return texts.bytes
    },
    get: (id) => byId.get(id),
    byNumber: (number) => byNumber.get(number),
    put,
    get deferred() {
      return deferred.size
    },
    indexDeferred,
    adopt,
    onLost: (listener) => void lostListeners.push(listener),
    setDimensions(value, model) {
      version++
      modelId = model
      dimensions = value
      texts.setDimensions(value, model)
    },
    putVectors(number, packed) {
      if (!byNumber.has(number) || dimensions === undefined || !isPacked(packed, dimensions)) return false
      version++
      texts.putVectors(number, packed)
      return true
    },
    remove,
    select: (selection) => agentsOf(select(selection, { visited: 0 })),
    list,
    async search({ query, vectors }, selection, options) {
      const { skip, take, all = false, onCandidates } = options
      const work = { visited: 0 }
      const window = {
        accepted: select(selection, work),
        approximate: selection.conditions.every(({ kind }) => kind === 'status'),
        skip,
        take,
        all,
      }
      const [wasComplete, lossesBefore] = [deferred.size === 0, losses]
      const found = await texts.search(query, vectors, window, (numbers) => {
        onCandidates?.()
        return adjustmentsOf(numbers, query, options)
      })
      return {
        ranked: found.hits.flatMap(({ number, ...hit }) => {
          const agent = byNumber.get(number)
          return agent ? [{ agent, ...hit }] : []
        }),
        total: found.total,
        matches: [...agentsOf(found.all)],
        isComplete: wasComplete && losses === lossesBefore,
        ...work,
      }
    },
    count: facets.count,
    read: texts.read,
    suggest: texts.suggest,
    async evidence({ query, vectors }, agents) {
      const numbers = agents.map(({ number }) => number)
      const reasons = await texts.evidence(query, vectors, numbers)
      return agents.map((agent, i) => evidenceOf(agent, reasons[i] ?? { words: [], parts: [] }))
    },
  }
}
