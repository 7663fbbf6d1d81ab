import { redactRecord } from '@switchboard/protocol'
import { type Condition, holds, holdsStatus, indexTerms, isExact, termsOf } from './conditions.js'
import type { IndexedAgent, View } from './entry.js'
import { lowerBound, Postings } from './postings.js'
import { meaningTextsOf } from './ranking/meaning-texts.js'
import type { Query } from './ranking/query.js'
import {
  type AgentLookup,
  createTextSearch,
  type TextEvidence,
  type TextFilter,
  type TextSearch,
} from './text-search.js'

/** What to find: hard conditions, all of which must hold, and who is asking. */
export interface Selection<T> {
  conditions: readonly Condition[]
  view: View<T>
  /** Whether the view shows every agent whole that keeps nothing private; then most need not be put to it. */
  showsOpen?: boolean
}

/** The status of almost every agent. */
const USUAL_STATUS = 'active'

/** What is asked for in words, read once (`readQuery`), with the vectors of its texts. */
export interface TextQuery {
  readonly query: Query
  /** One for each of `query.texts`; none: words alone decide. */
  readonly embedded: readonly Float32Array[]
}

export interface SearchOptions<T> {
  readonly skip: number
  readonly take: number
  /** Factor of an agent's score for what words and meaning do not tell; 1 changes nothing. */
  readonly weigh?: (agent: T) => number
}

export interface Ranked<T> {
  readonly agent: T
  /** 0 to 1; higher is better; alike from query to query. */
  readonly score: number
  /** The score that words and meaning alone earn it. */
  readonly relevance: number
}

export interface RankedPage<T> {
  /** Best first; equals in order of registration. */
  readonly ranked: readonly Ranked<T>[]
  /** How many match in all: by a word of theirs, or by meaning. */
  readonly total: number
}

/** All that a model is told of an agent, as one text. */
const meaningOf = ({ record }: IndexedAgent): string =>
  meaningTextsOf(redactRecord(record))
    .map(({ text }) => text)
    .join('\n')

/** All agents of a directory in memory: by id, by number, by conditions, by words and by meaning. */
export interface AgentIndex<T extends IndexedAgent> {
  readonly size: number
  /** Grows with every change, so that an answer can be told to be the same as before. */
  readonly version: number
  /** Bytes of words and of vectors. */
  readonly bytes: TextSearch['bytes']
  get(id: string): T | undefined
  byNumber(number: number): T | undefined
  /** Adds or replaces; found when it returns. `later`: its words wait for `catchUp`, or for the first search. */
  put(agent: T, words?: 'now' | 'later'): void
  /** Takes in the words of so many agents that were put `later`; returns how many are left. */
  catchUp(most: number): number
  /** Meanings are told by vectors of so many dimensions; until then words alone are searched. */
  setDimensions(dimensions: number): void
  /** Vectors of what the agent means (`meaningTextsOf`), packed; false if they are no use here. */
  putVectors(number: number, packed: Uint8Array): boolean
  remove(id: string): void
  /** Matches in order of registration. */
  select(selection: Selection<T>): Iterable<T>
  /** Matches that have something of the query, by word or by meaning. */
  search(text: TextQuery, selection: Selection<T>, options: SearchOptions<T>): RankedPage<T>
  /** Why an agent answers a query, as far as everybody may know. */
  evidence(text: TextQuery, agent: T): TextEvidence
}

export interface AgentIndexOptions {
  /** How many agents words, and how many vectors meaning bring into the ranking; 100 if not given. */
  readonly candidates?: number
}

export function createAgentIndex<T extends IndexedAgent>({ candidates }: AgentIndexOptions = {}): AgentIndex<T> {
  const byId = new Map<string, T>()
  const byNumber = new Map<number, T>()
  const numbers: number[] = []
  const postings = new Postings()
  const texts = createTextSearch(candidates)
  /** Agents whose words are not in the index yet: a start has many, and need not wait for them. */
  const wordless = new Map<number, T>()
  /** Numbers of agents that keep something private or have another status than most: each must be looked at. */
  const unusual = new Set<number>()
  let version = 0

  const note = ({ number, record, status }: T): void => {
    const isUsual = status === USUAL_STATUS && record.visibility !== 'private' && redactRecord(record) === record
    if (isUsual) unusual.delete(number)
    else unusual.add(number)
  }

  const remove = (id: string): void => {
    const agent = byId.get(id)
    if (!agent) return
    version++
    byId.delete(id)
    byNumber.delete(agent.number)
    numbers.splice(lowerBound(numbers, agent.number), 1)
    for (const term of indexTerms(agent.record)) postings.remove(term, agent.number)
    wordless.delete(agent.number)
    unusual.delete(agent.number)
    texts.remove(agent.number)
  }

  // What is private is not searched by words: a hit would tell a stranger that it is there.
  const putWords = ({ number, record }: T): void => {
    wordless.delete(number)
    texts.put(number, redactRecord(record), record.visibility !== 'private')
  }

  const catchUp = (most: number): number => {
    let done = 0
    for (const agent of wordless.values()) {
      if (done++ >= most) break
      putWords(agent)
    }
    return wordless.size
  }

  const replace = (before: T, agent: T): void => {
    const terms = new Set(indexTerms(agent.record))
    for (const term of indexTerms(before.record)) if (!terms.has(term)) postings.remove(term, agent.number)
    for (const term of terms) postings.add(term, agent.number)
    putWords(agent)
    // What it said before, some of which may be private now, must not be found any more.
    if (meaningOf(before) !== meaningOf(agent)) texts.removeVectors(agent.number)
  }

  const put = (agent: T, when: 'now' | 'later' = 'now'): void => {
    const { id } = agent.record
    const before = byId.get(id)
    if (before && before.number !== agent.number) remove(id)
    version++
    byId.set(id, agent)
    byNumber.set(agent.number, agent)
    note(agent)
    if (before?.number === agent.number) {
      if (before.record !== agent.record) replace(before, agent)
      return
    }
    numbers.splice(lowerBound(numbers, agent.number), 0, agent.number)
    for (const term of indexTerms(agent.record)) postings.add(term, agent.number)
    if (when === 'later') wordless.set(agent.number, agent)
    else putWords(agent)
  }

  /** Whether the caller sees the agent and it meets the conditions; `open` are those that its terms do not prove. */
  const accepts = (agent: T, { view, conditions }: Selection<T>, open: readonly Condition[]): boolean => {
    const record = view(agent)
    if (!record) return false
    // Terms stand for the whole record; of one that is shown in part nothing is proven.
    const toTest = record === agent.record ? open : conditions
    return toTest.every((condition) => holds(condition, record, agent.status, agent.registry))
  }

  function* select(selection: Selection<T>): Generator<T> {
    const open = selection.conditions.filter((condition) => !isExact(condition))
    for (const number of postings.intersect(selection.conditions.flatMap(termsOf)) ?? numbers) {
      const agent = byNumber.get(number)
      if (agent && accepts(agent, selection, open)) yield agent
    }
  }

  /** The selection as a filter of numbers. */
  const filterOf = (selection: Selection<T>): TextFilter => {
    const terms = selection.conditions.flatMap(termsOf)
    if (terms.length > 0) {
      const among = Array.from(select(selection), ({ number }) => number)
      const accepted = new Set(among)
      return { accept: (number) => accepted.has(number), among }
    }
    const isWide = selection.conditions.every(({ kind }) => kind === 'status')
    const test = (number: number): boolean => {
      const agent = byNumber.get(number)
      return agent !== undefined && accepts(agent, selection, selection.conditions)
    }
    if (!isWide || !selection.showsOpen) return { accept: test, isWide }
    // Words ask about every agent that has one: of the usual ones the answer is known.
    const usual = selection.conditions.every((condition) => holdsStatus(condition, USUAL_STATUS))
    const accept = (number: number): boolean => (unusual.has(number) ? test(number) : usual)
    return { accept, isWide, ...(usual && { unsure: unusual }) }
  }

  const agentOf = (number: number): T => {
    const agent = byNumber.get(number)
    if (!agent) throw new RangeError(`there is no agent ${number}`)
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
    catchUp,
    setDimensions: texts.setDimensions,
    putVectors(number, packed) {
      const agent = byNumber.get(number)
      return agent !== undefined && texts.putVectors(number, redactRecord(agent.record), packed)
    },
    remove,
    select,
    search({ query, embedded }, selection, { skip, take, weigh }) {
      catchUp(Number.POSITIVE_INFINITY)
      const filter = { ...filterOf(selection), ...(weigh && { weigh: (number: number) => weigh(agentOf(number)) }) }
      const ranking = texts.search(query, embedded, filter, lookup)
      return {
        ranked: ranking
          .page(skip, take)
          .map(({ number, score, relevance }) => ({ agent: agentOf(number), score, relevance })),
        total: ranking.total,
      }
    },
    evidence: ({ query, embedded }, { number, record }) =>
      texts.evidence(query, embedded, number, redactRecord(record)),
  }
}
