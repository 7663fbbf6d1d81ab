import { type AgentRecord, type JsonObject, redactRecord } from '@switchboard/protocol'
import {
  type Condition,
  conditionTest,
  indexedTest,
  isDecidedByTerms,
  PostingLists,
  recordTerms,
  requiredTerms,
  statusTest,
} from './conditions.js'
import { cutPage, type ListedPage, type ListOptions } from './list-page.js'
import { createListingOrder, sortByName } from './listing-order.js'
import { embeddingTextsOf } from './ranking/embedding-texts.js'
import type { Query } from './ranking/read-query.js'
import {
  type AgentLookup,
  createTextSearch,
  type TextEvidence,
  type TextFilter,
  type TextSearch,
} from './text-search.js'

/** An agent as the index stores it. */
export interface IndexedAgent {
  /** Registration order: increases with each registration and never changes while the agent is registered. */
  readonly number: number
  readonly record: AgentRecord
  /** The account that registered the agent; default: the record's publisher. */
  readonly owner?: string
  /** The effective status, which an operator may have overridden. */
  readonly status: string
  /** Members set by the directory rather than the publisher; in filters they take precedence over the document's. */
  readonly registry?: JsonObject
}

/** Returns the record as the caller may see it, or undefined if the agent is hidden from the caller. */
export type View<T> = (agent: T) => AgentRecord | undefined

/** Hard filters, all of which must hold, and the caller's view of each agent. */
export interface Selection<T> {
  conditions: readonly Condition[]
  view: View<T>
  /**
   * Set this if `view` returns every agent without private content unchanged. The view is then called only for the
   * few agents that have some.
   */
  showsAllPublic?: boolean
  /** The private agents that `view` shows, in registration order. Default: the view is called for every private agent. */
  privateAgents?: () => Iterable<T>
}

/** The status of almost every agent. */
const COMMON_STATUS = 'active'

/** A parsed query (`readQuery`) and its embeddings. */
export interface TextQuery {
  readonly query: Query
  /** One vector for each of `query.texts`. Empty: rank by words only. */
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
export interface Ranked<T> {
  readonly agent: T
  /** 0 to 1, higher is better; comparable between queries. */
  readonly score: number
  /** The score before `scoreFactor` and `boost`, and before near-duplicates are moved down. */
  readonly relevance: number
}

/** One page of search results. */
export interface RankedPage<T> extends Work {
  /** Best first; ties in registration order. */
  readonly ranked: readonly Ranked<T>[]
  /** Number of matches on all pages. */
  readonly total: number
}

/**
 * Agents that the caller sees and whose filters were checked one by one. Hidden ones do not count: the cost of a request
 * would reveal how many there are.
 */
export interface Work {
  readonly visited: number
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
  /** Sets the dimensions of the embeddings and drops all vectors. Until it is called, search uses words only. */
  setDimensions(dimensions: number): void
  /** Sets the vectors of the agent's `embeddingTextsOf`, packed by `packVectors`; false if they do not fit this index. */
  putVectors(number: number, packed: Uint8Array): boolean
  remove(id: string): void
  /** All agents that pass the filters, in registration order. */
  select(selection: Selection<T>): Iterable<T>
  /** One page of them. If the only filter is the status, it costs no more than the agents up to the page's end. */
  list(selection: Selection<T>, options: ListOptions): ListedPage<T> & Work
  /** Agents that pass the filters and match the query by words or embeddings, ranked. */
  search(text: TextQuery, selection: Selection<T>, options: SearchOptions<T>): RankedPage<T>
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
export function createAgentIndex<T extends IndexedAgent>({ rerankLimit }: AgentIndexOptions = {}): AgentIndex<T> {
  const byId = new Map<string, T>()
  const byNumber = new Map<number, T>()
  const order = createListingOrder<T>((number) => byNumber.get(number))
  const postings = new PostingLists()
  const texts = createTextSearch(rerankLimit)
  /** Agents whose words are not indexed yet: at startup there are many, and serving need not wait for them. */
  const deferred = new Map<number, T>()
  /** Agents with private content or an uncommon status: `accepts` must check each of them. */
  const uncommon = new Set<number>()

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
    deferred.delete(agent.number)
    uncommon.delete(agent.number)
    texts.remove(agent.number)
  }

  // Private members are not indexed: a hit would reveal their content.
  const indexWords = ({ number, record }: T): void => {
    deferred.delete(number)
    texts.put(number, redactRecord(record), record.visibility !== 'private')
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

  /** Whether the caller sees an agent and it meets the conditions; those that are `decided` hold for its whole record. */
  const accepter = (
    { view, conditions }: Selection<T>,
    work: { visited: number },
    decided: (condition: Condition) => boolean = () => false,
  ): ((agent: T) => boolean) => {
    const all = conditions.map(conditionTest)
    const undecided = conditions.flatMap((condition) => (decided(condition) ? [] : [indexedTest(condition, postings)]))
    return (agent) => {
      const record = view(agent)
      if (!record) return false
      work.visited++
      // Terms are taken from the whole record, so they decide nothing about a redacted one.
      if (record === agent.record) return undecided.every((test) => test(agent))
      return all.every((test) => test(record, agent.status, agent.registry))
    }
  }

  /** Those that can meet the conditions, in registration order, and which conditions they are certain to meet; undefined: all. */
  const candidates = (conditions: readonly Condition[]): Candidates | undefined => {
    const id = conditions.flatMap(requiredId)[0]
    if (id !== undefined) {
      const agent = byId.get(id)
      return { numbers: agent ? [agent.number] : [], decides: () => false }
    }
    const numbers = postings.intersect(requiredTermsOf(conditions))
    return numbers && { numbers, decides: isDecidedByTerms }
  }

  function* agentsOf(numbers: Iterable<number>): Generator<T> {
    for (const number of numbers) {
      const agent = byNumber.get(number)
      if (agent) yield agent
    }
  }

  function* select(selection: Selection<T>, work = { visited: 0 }): Generator<T> {
    const { conditions, privateAgents = order.privateAgents } = selection
    const some = candidates(conditions)
    const accept = accepter(selection, work, some?.decides)
    for (const agent of some ? agentsOf(some.numbers) : order.byRegistration(privateAgents()))
      if (accept(agent)) yield agent
  }

  const list = (selection: Selection<T>, options: ListOptions): ListedPage<T> & Work => {
    const { conditions, view, showsAllPublic, privateAgents = order.privateAgents } = selection
    const work = { visited: 0 }
    const some = candidates(conditions)
    const accept = accepter(selection, work, some?.decides)
    const nameOf = (agent: T): string => view(agent)?.name ?? ''
    if (some) {
      const inOrder = agentsOf(some.numbers)
      const agents = options.order === 'name' ? sortByName(inOrder, nameOf) : inOrder
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

  const textFilter = (selection: Selection<T>, work: { visited: number }): TextFilter => {
    if (requiredTermsOf(selection.conditions).length > 0) {
      const accepted = Array.from(select(selection, work), ({ number }) => number)
      const isAccepted = new Set(accepted)
      return { accept: (number) => isAccepted.has(number), accepted }
    }
    const acceptsMost = selection.conditions.every(({ kind }) => kind === 'status')
    const accepts = accepter(selection, work)
    const check = (number: number): boolean => {
      const agent = byNumber.get(number)
      return agent !== undefined && accepts(agent)
    }
    if (!acceptsMost || !selection.showsAllPublic) return { accept: check, acceptsMost }
    // Word search calls the filter for every agent with a hit; for common agents the result is known in advance.
    const acceptsCommon = selection.conditions.every(
      (each) => each.kind === 'status' && statusTest(each)(COMMON_STATUS),
    )
    const accept = (number: number): boolean => (uncommon.has(number) ? check(number) : acceptsCommon)
    return { accept, acceptsMost, ...(acceptsCommon && { rejectable: uncommon }) }
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
    putVectors(number, packed) {
      const agent = byNumber.get(number)
      return agent !== undefined && texts.putVectors(number, redactRecord(agent.record), packed)
    },
    remove,
    select: (selection) => select(selection),
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
        ranked: ranking
          .page(skip, take)
          .map(({ number, score, relevance }) => ({ agent: agentOf(number), score, relevance })),
        total: ranking.total,
        ...work,
      }
    },
    evidence: ({ query, vectors }, { number, record }) => texts.evidence(query, vectors, number, redactRecord(record)),
  }
}

interface Candidates {
  readonly numbers: Iterable<number>
  readonly decides: (condition: Condition) => boolean
}

/** The id that an agent must have to meet the condition. */
function requiredId(condition: Condition): string[] {
  if (condition.kind === 'agent') return 'exact' in condition.name ? [condition.name.exact] : []
  return condition.kind === 'member' && condition.name === 'id' && typeof condition.value === 'string'
    ? [condition.value]
    : []
}
const requiredTermsOf = (conditions: readonly Condition[]): string[] => [
  ...new Set(conditions.flatMap((condition) => requiredTerms(condition))),
]
