import { redactRecord } from '@switchboard/protocol'
import { type Condition, holds, indexTerms, isExact, termsOf } from './conditions.js'
import type { IndexedAgent, View } from './entry.js'
import { lowerBound, Postings } from './postings.js'
import { createWordIndex } from './words.js'

/** What to find: hard conditions, all of which must hold, and who is asking. */
export interface Selection<T> {
  conditions: readonly Condition[]
  view: View<T>
}

export interface Ranked<T> {
  agent: T
  /** 0 to 1; higher is better. */
  score: number
}

/** All agents of a directory in memory: by id, by number, by conditions and by words. */
export interface AgentIndex<T extends IndexedAgent> {
  readonly size: number
  /** Grows with every change, so that an answer can be told to be the same as before. */
  readonly version: number
  get(id: string): T | undefined
  byNumber(number: number): T | undefined
  /** Adds or replaces; found when it returns. `later`: its words wait for `catchUp`, or for the first search. */
  put(agent: T, words?: 'now' | 'later'): void
  /** Takes in the words of so many agents that were put `later`; returns how many are left. */
  catchUp(most: number): number
  remove(id: string): void
  /** Matches in order of registration. */
  select(selection: Selection<T>): Iterable<T>
  /** Matches that have something of the query, best first, then in order of registration. */
  search(query: string, selection: Selection<T>): Ranked<T>[]
}

export function createAgentIndex<T extends IndexedAgent>(): AgentIndex<T> {
  const byId = new Map<string, T>()
  const byNumber = new Map<number, T>()
  const numbers: number[] = []
  const postings = new Postings()
  const words = createWordIndex()
  /** Agents whose words are not in the index yet: a start has many, and need not wait for them. */
  const wordless = new Map<number, T>()
  let version = 0

  const remove = (id: string): void => {
    const agent = byId.get(id)
    if (!agent) return
    version++
    byId.delete(id)
    byNumber.delete(agent.number)
    numbers.splice(lowerBound(numbers, agent.number), 1)
    for (const term of indexTerms(agent.record)) postings.remove(term, agent.number)
    wordless.delete(agent.number)
    words.remove(agent.number)
  }

  // What is private is not searched by words: a hit would tell a stranger that it is there.
  const putWords = ({ number, record }: T): void => {
    wordless.delete(number)
    words.put(number, redactRecord(record), record.visibility !== 'private')
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
  }

  const put = (agent: T, when: 'now' | 'later' = 'now'): void => {
    const { id } = agent.record
    const before = byId.get(id)
    if (before && before.number !== agent.number) remove(id)
    version++
    byId.set(id, agent)
    byNumber.set(agent.number, agent)
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

  return {
    get size() {
      return byId.size
    },
    get version() {
      return version
    },
    get: (id) => byId.get(id),
    byNumber: (number) => byNumber.get(number),
    put,
    catchUp,
    remove,
    select,
    search(query, selection) {
      catchUp(Number.POSITIVE_INFINITY)
      const ranked: Ranked<T>[] = []
      for (const [number, score] of words.search(query)) {
        const agent = byNumber.get(number)
        if (agent && accepts(agent, selection, selection.conditions)) ranked.push({ agent, score })
      }
      return ranked.sort((a, b) => b.score - a.score || a.agent.number - b.agent.number)
    },
  }
}
