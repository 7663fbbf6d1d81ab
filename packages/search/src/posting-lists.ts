/** Posting lists for filters: for each term the numbers of the agents that have it, ascending (registration order). */
export class PostingLists {
  readonly #lists = new Map<string, number[]>()

  add(term: string, number: number): void {
    const list = this.#lists.get(term)
    if (!list) this.#lists.set(term, [number])
    else if ((list.at(-1) ?? -1) < number) list.push(number)
    else {
      const at = lowerBound(list, number)
      if (list[at] !== number) list.splice(at, 0, number)
    }
  }

  remove(term: string, number: number): void {
    const list = this.#lists.get(term)
    if (!list) return
    const at = lowerBound(list, number)
    if (list[at] === number) list.splice(at, 1)
    if (list.length === 0) this.#lists.delete(term)
  }

  get(term: string): readonly number[] {
    return this.#lists.get(term) ?? []
  }

  /** Agents that have all the terms; undefined if `terms` is empty. */
  intersect(terms: readonly string[]): Iterable<number> | undefined {
    const [shortest, ...others] = terms.map((term) => this.get(term)).sort((a, b) => a.length - b.length)
    if (!shortest || others.length === 0) return shortest
    return intersection(shortest, others)
  }
}

function* intersection(candidates: readonly number[], others: readonly (readonly number[])[]): Generator<number> {
  for (const number of candidates) {
    if (others.every((list) => list[lowerBound(list, number)] === number)) yield number
  }
}

/** Index of the first item that is greater than or equal to `number` in an ascending list. */
export function lowerBound(list: readonly number[], number: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((list[middle] ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}
