import { redactRecord } from '@switchboard/protocol'
import { type Condition, PostingLists, recordTerms, statusTest } from './conditions.js'
import type { StaticEncoder } from './embedding/static-encoder.js'
import type { Lexicon } from './lexicon/lexicon.js'
import { cutPage, type ListedPage, type ListOptions } from './list-page.js'
import { createListingOrder, sortByName } from './listing-order.js'
import { embeddingTextsOf } from './ranking/embedding-texts.js'
import type { Query } from './ranking/read-query.js'
import { COMMON_STATUS, createAgentSelector, type IndexedAgent, type Selection, type Work } from './select-agents.js'
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
}

/** Everything that is embedded for an agent, as one string. */
const embeddedText = ({ record }: IndexedAgent): string =>
  embeddingTextsOf(redactRecord(record))
    .map(({ text }) => text)
    .join('\n')

/** An in-memory index over all agents of a directory: by id, number, filters, words and embeddings. */
export interface AgentIndex<T extends IndexedAgent> {
  readonly size: number
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
  /** One page of them. If the only filter is the status, it costs no more than the agents up to the page's end. */
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
  const order = createListingOrder<T>((number) => byNumber.get(number))
  const postings = new PostingLists()
  const texts = createTextSearch(options)
  /** Agents whose words are not indexed yet: at startup there are many, and serving need not wait for them. */
  const deferred = new Map<number, T>()
  /** See `SelectableAgents.uncommon`. */
  const uncommon = new Set<number>()

  const { accepter, candidates, select, textFilter } = createAgentSelector<T>({
    byId,
    byNumber,
    order,
    postings,
    uncommon,
  })

  const classify = ({ number, record, status }: T): void => {
    const isCommon = status === COMMON_STATUS && record.visibility !== 'private' && redactRecord(record) === record
    if (isCommon) uncommon.delete(number)
    else uncommon.add(number)
  }

  const remove = (id: string): void => {
    const agent = byId.get(id)
    if (!agent) return
    byId.delete(id)
    byNumber.delete(agent.number)
    order.remove(agent)
    for (const term of recordTerms(agent.record)) postings.remove(term, agent.number)
    forgetWords(agent)
    deferred.delete(agent.number)
    uncommon.delete(agent.number)
    texts.remove(agent.number)
  }

  // Private members are not indexed: a hit would reveal their content.
  const indexWords = ({ number, record }: T): void => {
    deferred.delete(number)
    texts.put(number, redactRecord(record), record.visibility !== 'private')
  }

  const forgetWords = ({ number, record }: T): void => {
    if (record.visibility !== 'private' && !deferred.has(number)) texts.forgetWords(redactRecord(record))
  }

  const indexDeferred = (limit: number): number => {
    let done = 0
    for (const agent of deferred.values()) {
      if (done++ >= limit) break
      indexWords(agent)
    }
    return deferred.size
  }

  const replace = (before: T, agent: T): void => {
    const terms = new Set(recordTerms(agent.record))
    for (const term of recordTerms(before.record)) if (!terms.has(term)) postings.remove(term, agent.number)
    for (const term of terms) postings.add(term, agent.number)
    forgetWords(before)
    indexWords(agent)
    // The old vectors may represent text that has become private.
    if (embeddedText(before) !== embeddedText(agent)) texts.removeVectors(agent.number)
  }

  const put = (agent: T, words: 'now' | 'later' = 'now'): void => {
    const { id } = agent.record
    const before = byId.get(id)
    if (before && before.number !== agent.number) remove(id)
    byId.set(id, agent)
    byNumber.set(agent.number, agent)
    classify(agent)
    order.put(agent, before?.number === agent.number ? before : undefined)
    if (before?.number === agent.number) {
      if (before.record !== agent.record) replace(before, agent)
      return
    }
    for (const term of recordTerms(agent.record)) postings.add(term, agent.number)
    if (words === 'later') deferred.set(agent.number, agent)
    else indexWords(agent)
  }

  const list = (selection: Selection<T>, options: ListOptions): ListedPage<T> & Work => {
    const { conditions, view, showsAllPublic, privateAgents = order.privateAgents } = selection
    const work = { visited: 0 }
    const some = candidates(conditions)
    const accept = accepter(selection, work, some?.decides)
    const nameOf = (agent: T): string => view(agent)?.name ?? ''
    if (some) {
      const agents = options.order === 'name' ? sortByName(some.agents, nameOf) : some.agents
      return { ...cutPage(agents, accept, options), ...work }
    }
    const hidden = [...privateAgents()]
    const inOrder = (): Iterable<T> =>
      options.order === 'name' ? order.byName(hidden, nameOf) : order.byRegistration(hidden)
    const shown = showsAllPublic ? countByStatus(conditions) : undefined
    if (shown === undefined) return { ...cutPage(inOrder(), accept, options), ...work }
    const isSameForAll = hidden.length === 0 && !(options.order === 'name' && order.hasPrivateNames)
    if (isSameForAll && shown === order.size) {
      const { skip, take } = options
      const agents = [...order.slice(options.order, skip, skip + take)]
      return { agents, total: shown, visited: agents.length }
    }
    return { ...cutPage(inOrder(), accept, options, shown + hidden.filter(accept).length), ...work }
  }

  /** How many agents that are not private meet the conditions; undefined if these are not about the status alone. */
  const countByStatus = (conditions: readonly Condition[]): number | undefined => {
    const tests = conditions.flatMap((condition) => (condition.kind === 'status' ? [statusTest(condition)] : []))
    if (tests.length < conditions.length) return undefined
    let total = 0
    for (const [status, count] of order.statuses) if (tests.every((test) => test(status))) total += count
    return total
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
    setDimensions: texts.setDimensions,
    putVectors: (number, packed) => byNumber.has(number) && texts.putVectors(number, packed),
    remove,
    select: (selection) => select(selection, { visited: 0 }),
    list,
    search({ query, vectors }, selection, { skip, take, scoreFactor, boost, onCandidates }) {
      const work = { visited: 0 }
      const filter = {
        ...textFilter(selection, work),
        ...(scoreFactor && { scoreFactor: (number: number) => scoreFactor(agentOf(number)) }),
        ...(boost && { boost: (number: number) => boost(agentOf(number)) }),
        ...(onCandidates && { onCandidates }),
      }
      const ranking = texts.search(query, vectors, filter, lookup)
      return {
        ranked: ranking.page(skip, take).map(({ number, ...hit }) => ({ agent: agentOf(number), ...hit })),
        total: ranking.total,
        ...work,
      }
    },
    correct: texts.correct,
    suggest: texts.suggest,
    evidence: ({ query, vectors }, { number, record }) => texts.evidence(query, vectors, number, redactRecord(record)),
  }
}
