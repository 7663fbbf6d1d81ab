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
  matching(given: readonly (Clause | PrefixClause)[], among: NumberSet): NumberSet {
    const clauses = given.map((clause) => ('prefix' in clause ? this.#expand(clause) : clause))
    const [rarest, ...others] = clauses.toSorted((a, b) => this.#count(a) - this.#count(b))
    if (!rarest) return among.copy()
    // A few agents are compared with the other clauses one by one.
    const terms = others.reduce((sum, { anyOf }) => sum + anyOf.length, 1)
    if (!rarest.excluded && this.#count(rarest) * terms < among.size / 8) {
      const matches = new NumberSet()
      for (const number of this.#holders(rarest))
        if (among.has(number) && others.every((clause) => this.#meets(number, clause))) matches.add(number)
      return matches
    }
    const matches = among.copy()
    for (const clause of clauses) {
      if (clause.excluded) matches.subtract(this.#holders(clause))
      else matches.intersect(this.#holders(clause))
    }
    return matches
  }

  #expand({ kind, prefix }: PrefixClause): Clause {
    const anyOf: string[] = []
    for (const term of this.#kinds.get(kind)?.keys() ?? []) if (term.startsWith(prefix)) anyOf.push(term)
    return { kind, anyOf }
  }

  *#listsOf({ kind = '', anyOf, orKind }: Clause): Generator<Holders> {
    const lists = this.#kinds.get(kind)
    for (const term of anyOf) yield lists?.get(term) ?? NONE
    if (orKind !== undefined) yield this.#kinds.get(orKind)?.get('') ?? NONE
  }

  /** How many agents can meet a clause. */
  #count(clause: Clause): number {
    if (clause.excluded) return Number.MAX_SAFE_INTEGER
    let sum = 0
    for (const list of this.#listsOf(clause)) sum += sizeOf(list)
    return sum
  }

  #holders(clause: Clause): NumberSet {
    const lists = [...this.#listsOf(clause)]
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

  #meets(number: number, clause: Clause): boolean {
    for (const list of this.#listsOf(clause)) if (contains(list, number)) return clause.excluded !== true
    return clause.excluded === true
  }
}

const NONE: number[] = []

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
