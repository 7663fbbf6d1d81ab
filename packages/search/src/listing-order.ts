import { type AgentRecord, redactRecord } from '@switchboard/protocol'
import { lowerBound } from './conditions.js'

/** What the order of a list depends on. */
export interface Listed {
  readonly number: number
  readonly record: AgentRecord
  readonly status: string
}

/**
 * The orders in which agents are listed, kept up to date with every change, so that a page costs no more than its agents.
 * Private agents are kept apart: few callers see any of them.
 */
export interface ListingOrder<T extends Listed> {
  /** Adds an agent, or replaces `before`, which has the same number. */
  put(agent: T, before?: T): void
  remove(agent: T): void
  /** Number of agents that are not private. */
  readonly size: number
  /** How many of them have each status. */
  readonly statuses: ReadonlyMap<string, number>
  /** All private agents in registration order. */
  privateAgents(): Iterable<T>
  /** Agents in registration order: all that are not private, and these private ones, which are in that order too. */
  byRegistration(privateAgents: Iterable<T>): Iterable<T>
  /** The same by name, as `nameOf` tells it. It may differ from the public name only for agents with a private name. */
  byName(privateAgents: Iterable<T>, nameOf: (agent: T) => string): Iterable<T>
  /** A part of the order of all agents that are not private, without going through those before it. */
  slice(order: 'registration' | 'name', start: number, end: number): Iterable<T>
  /** Whether some agents that are not private have a private name, so that `byName` differs between callers. */
  readonly hasPrivateNames: boolean
}

export function createListingOrder<T extends Listed>(find: (number: number) => T | undefined): ListingOrder<T> {
  const open: number[] = []
  const hidden: number[] = []
  const statuses = new Map<string, number>()
  /** Agents that are not private but have a private name. */
  const renamed = new Set<number>()
  /** `open` by public name; sorted when it is first needed, and kept in order from then on. */
  let named: number[] | undefined

  const publicName = (number: number): string => publicNameOf(find(number))

  const countStatus = (status: string, change: 1 | -1): void => {
    const count = (statuses.get(status) ?? 0) + change
    if (count > 0) statuses.set(status, count)
    else statuses.delete(status)
  }

  /** The position of a name in `named`; ties are in registration order. */
  const placeOf = (name: string, number: number, list: readonly number[]): number => {
    let [low, high] = [0, list.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = list[middle] ?? 0
      const otherName = other === number ? name : publicName(other)
      if (otherName < name || (otherName === name && other < number)) low = middle + 1
      else high = middle
    }
    return low
  }

  const add = (agent: T): void => {
    const { number, status } = agent
    const numbers = isPrivate(agent) ? hidden : open
    numbers.splice(lowerBound(numbers, number), 0, number)
    if (isPrivate(agent)) return
    countStatus(status, 1)
    if (hasPrivateName(agent)) renamed.add(number)
    named?.splice(placeOf(publicNameOf(agent), number, named), 0, number)
  }

  const remove = (agent: T): void => {
    const { number, status } = agent
    const numbers = isPrivate(agent) ? hidden : open
    numbers.splice(lowerBound(numbers, number), 1)
    if (isPrivate(agent)) return
    countStatus(status, -1)
    renamed.delete(number)
    named?.splice(placeOf(publicNameOf(agent), number, named), 1)
  }

  const agentsOf = function* (numbers: Iterable<number>): Generator<T> {
    for (const number of numbers) {
      const agent = find(number)
      if (agent) yield agent
    }
  }

  const byPublicName = (): readonly number[] => {
    named ??= sortByName(agentsOf(open), publicNameOf).map(({ number }) => number)
    return named
  }

  return {
    put(agent, before) {
      if (before && isPlacedAlike(before, agent)) return
      if (before) remove(before)
      add(agent)
    },
    remove,
    get size() {
      return open.length
    },
    statuses,
    privateAgents: () => agentsOf(hidden),
    byRegistration: (privateAgents) => merge(agentsOf(open), privateAgents, (a, b) => a.number - b.number),
    byName(privateAgents, nameOf) {
      const own = Array.from(agentsOf(renamed)).filter((agent) => nameOf(agent) !== publicNameOf(agent))
      return mergeByName(agentsOf(byPublicName()), [...privateAgents, ...own], nameOf)
    },
    slice: (order, start, end) => agentsOf((order === 'name' ? byPublicName() : open).slice(start, end)),
    get hasPrivateNames() {
      return renamed.size > 0
    },
  }
}

const isPrivate = ({ record }: Listed): boolean => record.visibility === 'private'

const publicNameOf = (agent: Listed | undefined): string => (agent ? redactRecord(agent.record).name : '')

const hasPrivateName = (agent: Listed): boolean => publicNameOf(agent) !== agent.record.name

const isPlacedAlike = (a: Listed, b: Listed): boolean =>
  a.status === b.status &&
  (a.record === b.record ||
    (isPrivate(a) === isPrivate(b) && publicNameOf(a) === publicNameOf(b) && hasPrivateName(a) === hasPrivateName(b)))

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Agents by name; ties are in registration order. */
export function sortByName<T extends Listed>(agents: Iterable<T>, nameOf: (agent: T) => string): T[] {
  const named = Array.from(agents, (agent) => ({ agent, name: nameOf(agent) }))
  return named.sort((a, b) => compare(a.name, b.name) || a.agent.number - b.agent.number).map(({ agent }) => agent)
}

/** Merges agents in the order of their public names with others, some of which are among them under another name. */
function* mergeByName<T extends Listed>(
  agents: Iterable<T>,
  others: readonly T[],
  nameOf: (agent: T) => string,
): Generator<T> {
  const names = new Map(others.map((agent) => [agent, nameOf(agent)]))
  const name = (agent: T): string => names.get(agent) ?? publicNameOf(agent)
  function* without(): Generator<T> {
    for (const agent of agents) if (!names.has(agent)) yield agent
  }
  yield* merge(without(), sortByName(others, name), (a, b) => compare(name(a), name(b)) || a.number - b.number)
}

/** Merges two sequences that are in order. */
function* merge<T>(some: Iterable<T>, others: Iterable<T>, order: (a: T, b: T) => number): Generator<T> {
  const rest = others[Symbol.iterator]()
  let other = rest.next()
  for (const item of some) {
    while (!other.done && order(other.value, item) < 0) {
      yield other.value
      other = rest.next()
    }
    yield item
  }
  for (; !other.done; other = rest.next()) yield other.value
}
