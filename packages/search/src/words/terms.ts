/** All terms in use, each with a number. The number of a term that nobody has any more is given to another. */
export class Terms {
  readonly #numbers = new Map<string, number>()
  readonly #names: (string | undefined)[] = []
  readonly #free: number[] = []
  #releases = 0

  /** @param first the lowest number that is given */
  constructor(first: number) {
    this.#names.length = first
  }

  get size(): number {
    return this.#numbers.size
  }

  /** All numbers are below. */
  get end(): number {
    return this.#names.length
  }

  /** Grows whenever a term gives its number back: what was noted by number holds no longer. */
  get releases(): number {
    return this.#releases
  }

  find(term: string): number | undefined {
    return this.#numbers.get(term)
  }

  /** The number of the term, which has one from now on. */
  take(term: string): number {
    const known = this.#numbers.get(term)
    if (known !== undefined) return known
    const number = this.#free.pop() ?? this.#names.length
    const name = detached(term)
    this.#numbers.set(name, number)
    this.#names[number] = name
    return number
  }

  release(number: number): void {
    const term = this.#names[number]
    if (term === undefined) return
    this.#numbers.delete(term)
    this.#names[number] = undefined
    this.#free.push(number)
    this.#releases++
  }
}

/** A copy: a part of a string that is kept would keep the whole text in memory. */
export const detached = (part: string): string => ` ${part}`.slice(1)
