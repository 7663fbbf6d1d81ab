/** Maps terms to dense ids. The id of a term that no agent contains any more is reused. */
export class TermDictionary {
  readonly #ids = new Map<string, number>()
  readonly #terms: (string | undefined)[] = []
  readonly #freeIds: number[] = []
  #releases = 0

  /** @param firstId the lowest id to assign */
  constructor(firstId: number) {
    this.#terms.length = firstId
  }

  get size(): number {
    return this.#ids.size
  }

  /** One more than the highest id assigned so far. */
  get end(): number {
    return this.#terms.length
  }

  /** Incremented when an id is released: cached ids are invalid from then on. */
  get releases(): number {
    return this.#releases
  }

  find(term: string): number | undefined {
    return this.#ids.get(term)
  }

  /** Returns the id of the term; assigns one if it has none. */
  assign(term: string): number {
    const known = this.#ids.get(term)
    if (known !== undefined) return known
    const id = this.#freeIds.pop() ?? this.#terms.length
    const copy = copyString(term)
    this.#ids.set(copy, id)
    this.#terms[id] = copy
    return id
  }

  release(id: number): void {
    const term = this.#terms[id]
    if (term === undefined) return
    this.#ids.delete(term)
    this.#terms[id] = undefined
    this.#freeIds.push(id)
    this.#releases++
  }
}

/** V8 implements a substring as a reference to its parent; a copy does not keep the whole text in memory. */
const copyString = (text: string): string => ` ${text}`.slice(1)
