import type { AgentRecord, JsonObject } from '@switchboard/protocol'
import { type Condition, clausesOf, conditionTest, isDecidedByTerms } from './conditions.js'
import { NumberSet } from './number-set.js'
import type { PostingLists } from './posting-lists.js'

/** An agent as the index stores it. */
export interface IndexedAgent {
  /** Registration order: increases with each registration and never changes while the agent is registered. */
  readonly number: number
  readonly record: AgentRecord
  /** The account that registered the agent; default: the record's publisher. */
  readonly owner?: string
  /** Of the text of the record: a number that differs if anything of the text does. For engines that keep what is put. */
  readonly textVersion?: number
  /** The effective status, which an operator may have overridden. */
  readonly status: string
  /** Members set by the directory rather than the publisher; in filters they take precedence over the document's. */
  readonly registry?: JsonObject
}

/** Returns the record as the caller may see it, or undefined if the agent is hidden from the caller. */
export type View<T> = (agent: T) => AgentRecord | undefined

/** Hard filters, all of which must hold, and the caller's view of the agents. */
export interface Selection<T> {
  conditions: readonly Condition[]
  /** Is called only for agents with private content: everybody sees the others, as they are. */
  view: View<T>
  /** The private agents that `view` shows, in registration order. Default: the view is called for every private agent. */
  privateAgents?: () => Iterable<T>
}

/**
 * Agents that the caller sees and whose filters were checked one by one. Hidden ones do not count: the cost of a request
 * would reveal how many there are.
 */
export interface Work {
  readonly visited: number
}

/** The agents of an index, as far as selections need them. */
export interface SelectableAgents<T extends IndexedAgent> {
  readonly byId: ReadonlyMap<string, T>
  readonly byNumber: ReadonlyMap<number, T>
  readonly postings: PostingLists
  /** Agents without private content. */
  readonly open: NumberSet
  /** Agents that everybody sees, but only some see whole. */
  readonly partlyPrivate: Iterable<number>
  privateAgents(): Iterable<T>
}

/** Agents that pass the part of a selection that terms decide. */
export interface Narrowed<T> {
  readonly numbers: NumberSet
  /** Whether one of them passes the rest; undefined: all do. */
  readonly accept: ((agent: T) => boolean) | undefined
}

/** Applies selections to the agents of an index; `work` counts the agents that are checked. */
export interface AgentSelector<T> {
  narrow(selection: Selection<T>, work: { visited: number }): Narrowed<T>
  /** The agents that pass the filters. */
  select(selection: Selection<T>, work: { visited: number }): NumberSet
}

export function createAgentSelector<T extends IndexedAgent>(index: SelectableAgents<T>): AgentSelector<T> {
  const { byId, byNumber, postings, open, partlyPrivate } = index

  const narrow = (selection: Selection<T>, work: { visited: number }): Narrowed<T> => {
    const { conditions, view, privateAgents = index.privateAgents } = selection
    const tests = conditions.map((condition) => ({ condition, test: conditionTest(condition) }))
    /** Terms are taken from the whole record, so they decide nothing about what the caller sees of it. */
    const passesAsSeen = (agent: T): boolean => {
      const record = open.has(agent.number) ? agent.record : view(agent)
      if (!record) return false
      work.visited++
      return tests.every(({ test }) => test(record, agent.status, agent.registry))
    }
    const id = conditions.flatMap(requiredId)[0]
    if (id !== undefined) {
      const agent = byId.get(id)
      return { numbers: new NumberSet(agent && passesAsSeen(agent) ? [agent.number] : []), accept: undefined }
    }
    const numbers = postings.matching(conditions.flatMap(clausesOf), open)
    for (const number of partlyPrivate) {
      const agent = byNumber.get(number)
      if (agent && passesAsSeen(agent)) numbers.add(number)
    }
    for (const agent of privateAgents()) if (passesAsSeen(agent)) numbers.add(agent.number)
    const undecided = tests.filter(({ condition }) => !isDecidedByTerms(condition))
    const accept = (agent: T): boolean => {
      if (!open.has(agent.number)) return true
      work.visited++
      return undecided.every(({ test }) => test(agent.record, agent.status, agent.registry))
    }
    return { numbers, accept: undecided.length > 0 ? accept : undefined }
  }

  const select = (selection: Selection<T>, work: { visited: number }): NumberSet => {
    const { numbers, accept } = narrow(selection, work)
    if (!accept) return numbers
    for (const number of numbers) {
      const agent = byNumber.get(number)
      if (!agent || !accept(agent)) numbers.delete(number)
    }
    return numbers
  }

  return { narrow, select }
}

/** The id that an agent must have to meet the condition. */
function requiredId(condition: Condition): string[] {
  if (condition.kind === 'agent') return 'exact' in condition.name ? [condition.name.exact] : []
  return condition.kind === 'member' && condition.name === 'id' && typeof condition.value === 'string'
    ? [condition.value]
    : []
}
