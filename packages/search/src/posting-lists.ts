import { NumberSet } from './number-set.js'

/** A list of at least this many numbers becomes a set of bits if that takes less memory. */
const SET_FROM = 1024
/** Bits of a number in a list. */
const LIST_BITS = 64

/** An agent must have one of the terms; if they are excluded, none of them. */
export interface Clause {
  readonly anyOf: readonly string[]
  readonly excluded?: boolean | undefined
}

/** An agent must have a term that starts like this. */
export interface PrefixClause {
  readonly prefix: string
}

/** For each term the numbers of the agents that have it. */
export class PostingLists {
  /** Rare terms have lists in ascending order, frequent ones sets. */
  readonly #lists = new Map<string, number[] | NumberSet>()

  add(term: string, number: number): void {
    const list = this.#lists.get(term)
    if (!list) this.#lists.set(term, [number])
    else if (list instanceof NumberSet) list.add(number)
    else {
      insert(list, number)
      const highest = list.at(-1) ?? 0
      if (list.length >= SET_FROM && list.length * LIST_BITS > highest) this.#lists.set(term, new NumberSet(list))
    }
  }

  remove(term: string, number: number): void {
    const list = this.#lists.get(term)
    if (!list) return
    if (list instanceof NumberSet) list.delete(number)
    else {
      const at = lowerBound(list, number)
      if (list[at] === number) list.splice(at, 1)
    }
    if (sizeOf(list) === 0) this.#lists.delete(term)
  }

  /**
   * The agents that meet all clauses.
   *
   * @param among all agents that come into question
   */
  matching(given: readonly (Clause | PrefixClause)[], among: NumberSet): NumberSet {
    const clauses = given.map((clause) => ('prefix' in clause ? { anyOf: this.#termsWith(clause.prefix) } : clause))
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

  #termsWith(prefix: string): string[] {
    const terms: string[] = []
    for (const term of this.#lists.keys()) if (term.startsWith(prefix)) terms.push(term)
    return terms
  }

  /** How many agents can meet a clause. */
  #count({ anyOf, excluded }: Clause): number {
    if (excluded) return Number.MAX_SAFE_INTEGER
    return anyOf.reduce((sum, term) => sum + sizeOf(this.#lists.get(term) ?? []), 0)
  }

  #holders({ anyOf }: Clause): NumberSet {
    const [only] = anyOf.length === 1 ? anyOf : []
    const list = only === undefined ? undefined : this.#lists.get(only)
    if (list instanceof NumberSet) return list
    const holders = new NumberSet()
    for (const term of anyOf) {
      const list = this.#lists.get(term) ?? []
      if (list instanceof NumberSet) holders.unite(list)
      else for (const number of list) holders.add(number)
    }
    return holders
  }

  #meets(number: number, { anyOf, excluded = false }: Clause): boolean {
    const hasOne = anyOf.some((term) => {
      const list = this.#lists.get(term)
      return list instanceof NumberSet ? list.has(number) : list?.[lowerBound(list, number)] === number
    })
    return hasOne !== excluded
  }
}

const sizeOf = (list: readonly number[] | NumberSet): number => (list instanceof NumberSet ? list.size : list.length)

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
