import { type AgentRecord, redactRecord } from '@switchboard/protocol'

/** What the order depends on. */
export interface Named {
  readonly number: number
  readonly record: AgentRecord
}

/**
 * Agents in the order of their names, kept up to date with every change, so that a page costs no more than its agents.
 * Private agents are not in it: few callers see any of them.
 */
export interface NameOrder<T extends Named> {
  /** Adds an agent, or replaces `before`, which has the same number. */
  put(agent: T, before?: T): void
  remove(agent: T): void
  /**
   * All agents in order, with these private ones.
   *
   * @param nameOf the name as the caller sees it; may differ from the public name only for agents with a private name
   */
  all(privateAgents: Iterable<T>, nameOf: (agent: T) => string): Iterable<T>
  /** A part of the order without private agents, if it is the same for every caller. */
  slice(start: number, end: number): readonly T[] | undefined
}

/** @param shown the numbers of all agents that are not private */
export function createNameOrder<T extends Named>(
  shown: () => Iterable<number>,
  find: (number: number) => T | undefined,
): NameOrder<T> {
  /** Agents that are not private but have a private name. */
  const renamed = new Set<number>()
  /** `shown` by public name; sorted when it is first needed, and kept in order from then on. */
  let named: number[] | undefined

  /** The position of a name in a list; ties are in registration order. */
  const placeOf = (name: string, number: number, list: readonly number[]): number => {
    let [low, high] = [0, list.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = list[middle] ?? 0
      const otherName = other === number ? name : publicNameOf(find(other))
      if (otherName < name || (otherName === name && other < number)) low = middle + 1
      else high = middle
    }
    return low
  }

  const add = (agent: T): void => {
    if (isPrivate(agent)) return
    if (hasPrivateName(agent)) renamed.add(agent.number)
    named?.splice(placeOf(publicNameOf(agent), agent.number, named), 0, agent.number)
  }

  const remove = (agent: T): void => {
    if (isPrivate(agent)) return
    renamed.delete(agent.number)
    named?.splice(placeOf(publicNameOf(agent), agent.number, named), 1)
  }

  const agentsOf = function* (numbers: Iterable<number>): Generator<T> {
    for (const number of numbers) {
      const agent = find(number)
      if (agent) yield agent
    }
  }

  const byPublicName = (): readonly number[] => {
    named ??= sortByName(agentsOf(shown()), publicNameOf).map(({ number }) => number)
    return named
  }

  return {
    put(agent, before) {
      if (before && isPlacedAlike(before, agent)) return
      if (before) remove(before)
      add(agent)
    },
    remove,
    all(privateAgents, nameOf) {
      const own = Array.from(agentsOf(renamed)).filter((agent) => nameOf(agent) !== publicNameOf(agent))
      return mergeByName(agentsOf(byPublicName()), [...privateAgents, ...own], nameOf)
    },
    slice: (start, end) => (renamed.size > 0 ? undefined : [...agentsOf(byPublicName().slice(start, end))]),
  }
}

const isPrivate = ({ record }: Named): boolean => record.visibility === 'private'

const publicNameOf = (agent: Named | undefined): string => (agent ? redactRecord(agent.record).name : '')

const hasPrivateName = (agent: Named): boolean => publicNameOf(agent) !== agent.record.name

const isPlacedAlike = (a: Named, b: Named): boolean =>
  a.record === b.record ||
  (isPrivate(a) === isPrivate(b) && publicNameOf(a) === publicNameOf(b) && hasPrivateName(a) === hasPrivateName(b))

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Agents by name; ties are in registration order. */
export function sortByName<T extends Named>(agents: Iterable<T>, nameOf: (agent: T) => string): T[] {
  const named = Array.from(agents, (agent) => ({ agent, name: nameOf(agent) }))
  return named.sort((a, b) => compare(a.name, b.name) || a.agent.number - b.agent.number).map(({ agent }) => agent)
}

/** Merges agents in the order of their public names with others, some of which are among them under another name. */
function* mergeByName<T extends Named>(
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
