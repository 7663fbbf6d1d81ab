import type { AgentRecord, JsonObject } from '@switchboard/protocol'
import {
  type Condition,
  conditionTest,
  indexedTest,
  isDecidedByTerms,
  type PostingLists,
  requiredTerms,
  statusTest,
} from './conditions.js'
import type { ListingOrder } from './listing-order.js'
import type { TextFilter } from './text-search.js'

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
export const COMMON_STATUS = 'active'

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
  readonly order: ListingOrder<T>
  readonly postings: PostingLists
  /** Agents with private content or an uncommon status: each of them must be checked. */
  readonly uncommon: ReadonlySet<number>
}

/** Agents that can meet some conditions, and which of the conditions they are certain to meet. */
interface Candidates<T> {
  /** In registration order. */
  readonly agents: Iterable<T>
  readonly decides: (condition: Condition) => boolean
}

/** Applies selections to the agents of an index; `work` counts the agents that are checked. */
export interface AgentSelector<T> {
  /** Whether the caller sees an agent and it meets the conditions; those that are `decided` hold for its whole record. */
  accepter(
    selection: Selection<T>,
    work: { visited: number },
    decided?: (condition: Condition) => boolean,
  ): (agent: T) => boolean
  /** Undefined: all agents. */
  candidates(conditions: readonly Condition[]): Candidates<T> | undefined
  /** The agents that pass the filters, in registration order. */
  select(selection: Selection<T>, work: { visited: number }): Iterable<T>
  textFilter(selection: Selection<T>, work: { visited: number }): TextFilter
}

export function createAgentSelector<T extends IndexedAgent>(index: SelectableAgents<T>): AgentSelector<T> {
  const { byId, byNumber, order, postings, uncommon } = index

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

  const candidates = (conditions: readonly Condition[]): Candidates<T> | undefined => {
    const id = conditions.flatMap(requiredId)[0]
    if (id !== undefined) {
      const agent = byId.get(id)
      return { agents: agent ? [agent] : [], decides: () => false }
    }
    const numbers = postings.intersect(requiredTermsOf(conditions))
    return numbers && { agents: agentsOf(numbers), decides: isDecidedByTerms }
  }

  function* agentsOf(numbers: Iterable<number>): Generator<T> {
    for (const number of numbers) {
      const agent = byNumber.get(number)
      if (agent) yield agent
    }
  }

  function* select(selection: Selection<T>, work: { visited: number }): Generator<T> {
    const { conditions, privateAgents = order.privateAgents } = selection
    const some = candidates(conditions)
    const accept = accepter(selection, work, some?.decides)
    for (const agent of some?.agents ?? order.byRegistration(privateAgents())) if (accept(agent)) yield agent
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

  return { accepter, candidates, select, textFilter }
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
