/** Keeps the best of many scored items in a heap whose root is the worst kept; of equals the lower item is better. */
export class BestScores {
  readonly #limit: number
  readonly #items: number[] = []
  readonly #scores: number[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether an item with this score would be kept; tells before a costly test. */
  wants(item: number, score: number): boolean {
    if (this.#items.length < this.#limit) return this.#limit > 0
    return isBetter(score, item, this.#scores[0] ?? 0, this.#items[0] ?? 0)
  }

  add(item: number, score: number): void {
    if (!this.wants(item, score)) return
    if (this.#items.length < this.#limit) this.#rise(item, score)
    else this.#sink(item, score)
  }

  /** Items, best first. */
  take(): number[] {
    const order = this.#items.map((_, i) => i)
    const [items, scores] = [this.#items, this.#scores]
    order.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || (items[a] ?? 0) - (items[b] ?? 0))
    return order.map((i) => items[i] ?? 0)
  }

  #rise(item: number, score: number): void {
    let at = this.#items.length
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBetter(this.#scores[above] ?? 0, this.#items[above] ?? 0, score, item)) break
      this.#move(above, at)
      at = above
    }
    this.#place(at, item, score)
  }

  #sink(item: number, score: number): void {
    const size = this.#items.length
    let at = 0
    for (let below = 1; below < size; below = 2 * at + 1) {
      const other = below + 1
      if (other < size && this.#isWorse(other, below)) below = other
      if (!isBetter(score, item, this.#scores[below] ?? 0, this.#items[below] ?? 0)) break
      this.#move(below, at)
      at = below
    }
    this.#place(at, item, score)
  }

  #isWorse(a: number, b: number): boolean {
    return isBetter(this.#scores[b] ?? 0, this.#items[b] ?? 0, this.#scores[a] ?? 0, this.#items[a] ?? 0)
  }

  #move(from: number, to: number): void {
    this.#place(to, this.#items[from] ?? 0, this.#scores[from] ?? 0)
  }

  #place(at: number, item: number, score: number): void {
    this.#items[at] = item
    this.#scores[at] = score
  }
}

const isBetter = (score: number, item: number, thanScore: number, thanItem: number): boolean =>
  score > thanScore || (score === thanScore && item < thanItem)
