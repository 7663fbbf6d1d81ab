import { redactRecord } from '@switchboard/protocol'
import { termsOf } from './conditions.js'
import type { StaticEncoder } from './embedding/static-encoder.js'
import { createFacetCounter, type FacetCounter } from './facets.js'
import type { Lexicon } from './lexicon/lexicon.js'
import { cutPage, type ListedPage, type ListOptions } from './list-page.js'
import { createNameOrder, sortByName } from './name-order.js'
import { NumberSet } from './number-set.js'
import { PostingLists } from './posting-lists.js'
import { embeddingTextsOf } from './ranking/embedding-texts.js'
import type { Query } from './ranking/read-query.js'
import { createAgentSelector, type IndexedAgent, type Narrowed, type Selection, type Work } from './select-agents.js'
import { type AgentLookup, createTextSearch, type TextEvidence, type TextHit, type TextSearch } from './text-search.js'

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
  /** All matches, in no particular order. Must be called before the index is used again. */
  readonly matches: () => T[]
}

/** If one agent in this many passes the filters, sorting those by name takes less time than to go through all names. */
const FEW = 16

/** Everything that is embedded for an agent, as one string. */
const embeddedText = ({ record }: IndexedAgent): string =>
  embeddingTextsOf(redactRecord(record))
    .map(({ text }) => text)
    .join('\n')

/** An in-memory index over all agents of a directory: by id, number, filters, words and embeddings. */
export interface AgentIndex<T extends IndexedAgent> {
  readonly size: number
  /** Changes with everything that searches by text and by indexed conditions depend on, except score factors. */
  readonly version: number
  /** Memory used by the word index and by the vectors. */
  readonly bytes: TextSearch['bytes']
  get(id: string): T | undefined
  byNumber(number: number): T | undefined
  /**
   * Adds or replaces an agent; filters find it when this returns. With `later`, a new agent is found by text only after
   * `indexDeferred` has indexed its words.
   */
  put(agent: T, words?: 'now' | 'later'): void
  /** Number of agents whose words are not indexed yet. */
  readonly deferred: number
  /** Indexes the words of up to `limit` deferred agents; returns how many are left. */
  indexDeferred(limit: number): number
  /** Sets the dimensions of the model's embeddings and drops its vectors. Until it is called, search does without. */
  setDimensions(dimensions: number): void
  /** Sets the model's vectors of the agent's `embeddingTextsOf`, packed by `packVectors`; false if they do not fit. */
  putVectors(number: number, packed: Uint8Array): boolean
  remove(id: string): void
  /** All agents that pass the filters, in registration order. */
  select(selection: Selection<T>): Iterable<T>
  /** One page of them. */
  list(selection: Selection<T>, options: ListOptions): ListedPage<T> & Work
  /** Agents that pass the filters and match the query by words or embeddings, ranked. */
  search(text: TextQuery, selection: Selection<T>, options: SearchOptions<T>): RankedPage<T>
  /**
   * Corrects the words of a query that no public agent contains towards words that public agents contain. What private
   * agents contain counts only as far as the caller sees them.
   */
  readonly correct: TextSearch['correct']
  /** Words of public agents that are similar to the unknown words of a query. */
  readonly suggest: TextSearch['suggest']
  /** Counts the values of agents, such as of all matches. */
  readonly count: FacetCounter['count']
  /** Why an agent matches a query, based on its public content only. */
  evidence(text: TextQuery, agent: T): TextEvidence
}

/** Options of `createAgentIndex`. */
export interface AgentIndexOptions {
  /**
   * How many agents found by words, and how many vectors, are re-ranked with all evidence. The remaining matches
   * follow in the order of their word scores. Default: 100.
   */
  readonly rerankLimit?: number
  /** A static embedding (`builtInStaticEncoder`), by which agents are found at once. Default: none. */
  readonly encoder?: StaticEncoder | undefined
  /** What words of other languages mean in English. Default: the lexicon of this package. */
  readonly lexicon?: Lexicon | undefined
}

/**
 * Creates an empty index.
 *
 * @example
 * const index = createAgentIndex<IndexedAgent>()
 * index.put({ number: 1, status: 'active', record })
 * const text = { query: readQuery('translate a contract'), vectors: [] }
 * const { ranked } = index.search(text, { conditions: [], view: (agent) => agent.record }, { skip: 0, take: 10 })
 */
export function createAgentIndex<T extends IndexedAgent>(options: AgentIndexOptions = {}): AgentIndex<T> {
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
  const texts = createTextSearch(options)
  const facets = createFacetCounter()
  let version = 0
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
    for (const term of termsOf(agent)) postings.remove(term, agent.number)
    forgetWords(agent)
    deferred.delete(agent.number)
    facets.forget(agent.number)
    texts.remove(agent.number)
  }

  // Private members are not indexed: a hit would reveal their content.
  const indexWords = ({ number, record }: T): void => {
    deferred.delete(number)
    facets.learn(number, record)
    texts.put(number, redactRecord(record), record.visibility !== 'private')
  }

  const forgetWords = ({ number, record }: T): void => {
    if (record.visibility !== 'private' && !deferred.has(number)) texts.forgetWords(redactRecord(record))
  }

  const indexDeferred = (limit: number): number => {
    version++
    let done = 0
    for (const agent of deferred.values()) {
      if (done++ >= limit) break
      indexWords(agent)
    }
    return deferred.size
  }

  const replace = (before: T, agent: T): void => {
    const { number } = agent
    const isSame = before.record === agent.record && before.status === agent.status
    if (!isSame || before.owner !== agent.owner) version++
    if (isSame) return
    const terms = new Set(termsOf(agent))
    for (const term of termsOf(before)) if (!terms.has(term)) postings.remove(term, number)
    for (const term of terms) postings.add(term, number)
    if (before.record === agent.record) return
    classOf(before).delete(number)
    classOf(agent).add(number)
    names.put(agent, before)
    forgetWords(before)
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
    for (const term of termsOf(agent)) postings.add(term, number)
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

  const agentOf = (number: number): T => {
    const agent = byNumber.get(number)
    if (!agent) throw new RangeError(`no agent has the number ${number}`)
    return agent
  }

  const lookup: AgentLookup = {
    recordOf: (number) => redactRecord(agentOf(number).record),
    publisherOf: (number) => agentOf(number).owner ?? agentOf(number).record.publisher,
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
    setDimensions(dimensions) {
      version++
      texts.setDimensions(dimensions)
    },
    putVectors(number, packed) {
      version++
      return byNumber.has(number) && texts.putVectors(number, packed)
    },
    remove,
    select: (selection) => agentsOf(select(selection, { visited: 0 })),
    list,
    search({ query, vectors }, selection, { skip, take, scoreFactor, boost, onCandidates }) {
      const work = { visited: 0 }
      const filter = {
        accepted: select(selection, work),
        approximate: selection.conditions.every(({ kind }) => kind === 'status'),
        ...(scoreFactor && { scoreFactor: (number: number) => scoreFactor(agentOf(number)) }),
        ...(boost && { boost: (number: number) => boost(agentOf(number)) }),
        ...(onCandidates && { onCandidates }),
      }
      const ranking = texts.search(query, vectors, filter, lookup)
      return {
        ranked: ranking.page(skip, take).map(({ number, ...hit }) => ({ agent: agentOf(number), ...hit })),
        total: ranking.total,
        matches: () => Array.from(ranking.numbers(), agentOf),
        ...work,
      }
    },
    count: facets.count,
    correct: texts.correct,
    suggest: texts.suggest,
    evidence: ({ query, vectors }, { number, record }) => texts.evidence(query, vectors, number, redactRecord(record)),
  }
}
