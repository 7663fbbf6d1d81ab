import { NumberSet } from './number-set.js'

/** A list of at least this many numbers becomes a set of bits if that takes less memory. */
const SET_FROM = 1024
/** Bits of a number in a list. */
const LIST_BITS = 64

/** An agent must have one of the terms; if they are excluded, none of them. */
export interface Clause {
  /** Of all terms; default: the empty one. */
  readonly kind?: string | undefined
  readonly anyOf: readonly string[]
  /** Another kind: an agent that has its empty term passes too. */
  readonly orKind?: string | undefined
  readonly excluded?: boolean | undefined
}

/** An agent must have a term that starts like this. */
export interface PrefixClause {
  readonly kind: string
  readonly prefix: string
}

/** The agents with a term: most terms have only one, other rare terms a list in ascending order, frequent ones a set. */
type Holders = number | number[] | NumberSet

/** For each term the numbers of the agents that have it. */
export class PostingLists {
  /** By kind, so that the terms of different kinds can share their texts, and need not be joined to look them up. */
  readonly #kinds = new Map<string, Map<string, Holders>>()

  add(term: string, number: number, kind = ''): void {
    const lists = this.#kinds.get(kind) ?? new Map<string, Holders>()
    if (lists.size === 0) this.#kinds.set(kind, lists)
    const list = lists.get(term)
    if (list === undefined) lists.set(term, number)
    else if (typeof list === 'number') {
      if (list !== number) lists.set(term, list < number ? [list, number] : [number, list])
    } else if (list instanceof NumberSet) list.add(number)
    else {
      insert(list, number)
      const highest = list.at(-1) ?? 0
      if (list.length >= SET_FROM && list.length * LIST_BITS > highest) lists.set(term, new NumberSet(list))
    }
  }

  remove(term: string, number: number, kind = ''): void {
    const lists = this.#kinds.get(kind)
    const list = lists?.get(term)
    if (!lists || list === undefined) return
    if (typeof list === 'number') {
      if (list === number) lists.delete(term)
      return
    }
    if (list instanceof NumberSet) list.delete(number)
    else {
      const at = lowerBound(list, number)
      if (list[at] === number) list.splice(at, 1)
    }
    if (sizeOf(list) === 0) lists.delete(term)
  }

  /**
   * The agents that meet all clauses.
   *
   * @param among all agents that come into question
   */
  matching(clauses: readonly (Clause | PrefixClause)[], among: NumberSet): NumberSet {
    const resolved = clauses.map((clause) => this.#resolve(clause)).sort((a, b) => a.count - b.count)
    const [rarest, ...others] = resolved
    if (!rarest) return among.copy()
    // A few agents are compared with the other clauses one by one.
    const lists = others.reduce((sum, clause) => sum + clause.lists.length, 1)
    if (!rarest.excluded && rarest.count * lists < among.size / 8) {
      const matches: number[] = []
      for (const number of ascendingHolders(rarest))
        if (among.has(number) && others.every((clause) => meets(number, clause))) matches.push(number)
      return NumberSet.ofFew(matches)
    }
    const matches = among.copy()
    for (const clause of resolved) {
      if (clause.excluded) matches.subtract(unitedHolders(clause))
      else matches.intersect(unitedHolders(clause))
    }
    return matches
  }

  #resolve(clause: Clause | PrefixClause): ResolvedClause {
    const terms = this.#kinds.get(clause.kind ?? '')
    const lists: Holders[] = []
    const take = (list: Holders | undefined): void => {
      if (list !== undefined) lists.push(list)
    }
    if ('prefix' in clause) {
      for (const [term, list] of terms ?? []) if (term.startsWith(clause.prefix)) take(list)
    } else {
      for (const term of clause.anyOf) take(terms?.get(term))
      if (clause.orKind !== undefined) take(this.#kinds.get(clause.orKind)?.get(''))
    }
    const excluded = 'excluded' in clause && clause.excluded === true
    let count = excluded ? Number.MAX_SAFE_INTEGER : 0
    if (!excluded) for (const list of lists) count += sizeOf(list)
    return { lists, excluded, count }
  }
}

/** A clause with the agents of its terms. */
interface ResolvedClause {
  readonly lists: readonly Holders[]
  readonly excluded: boolean
  /** How many agents can meet it. */
  readonly count: number
}

/** The same as `unitedHolders`, in ascending order. */
function ascendingHolders(clause: ResolvedClause): Iterable<number> {
  const [only] = clause.lists.length === 1 ? clause.lists : []
  if (only === undefined) return unitedHolders(clause)
  return typeof only === 'number' ? [only] : only
}

function unitedHolders({ lists }: ResolvedClause): NumberSet {
  const [only] = lists
  if (lists.length === 1 && only instanceof NumberSet) return only
  const holders = new NumberSet()
  for (const list of lists) {
    if (list instanceof NumberSet) holders.unite(list)
    else if (typeof list === 'number') holders.add(list)
    else for (const number of list) holders.add(number)
  }
  return holders
}

const meets = (number: number, { lists, excluded }: ResolvedClause): boolean =>
  lists.some((list) => contains(list, number)) !== excluded

const sizeOf = (list: Holders): number =>
  typeof list === 'number' ? 1 : list instanceof NumberSet ? list.size : list.length

function contains(list: Holders, number: number): boolean {
  if (typeof list === 'number') return list === number
  return list instanceof NumberSet ? list.has(number) : list[lowerBound(list, number)] === number
}

function insert(list: number[], number: number): void {
  if ((list.at(-1) ?? -1) < number) list.push(number)
  else {
    const at = lowerBound(list, number)
    if (list[at] !== number) list.splice(at, 0, number)
  }
}

/** Index of the first item that is greater than or equal to `number` in an ascending list. */
function lowerBound(list: readonly number[], number: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((list[middle] ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}
