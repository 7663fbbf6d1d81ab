import { grown } from './grown.js'

/** Keeps the best of many scored items in a heap whose root is the worst kept; its memory serves many times. */
export class BestScores {
  #limit = 0
  #size = 0
  #items = new Uint32Array(256)
  #scores = new Float64Array(256)
  #order: Float64Array = new Float64Array(0)

  /** @param order by item: of equal scores the one that comes first is better */
  begin(limit: number, order: Float64Array): void {
    this.#limit = limit
    this.#size = 0
    this.#items = grown(this.#items, limit)
    this.#scores = grown(this.#scores, limit)
    this.#order = order
  }

  /** What scores less is not kept; tells before a costly test. */
  get floor(): number {
    if (this.#size < this.#limit) return Number.NEGATIVE_INFINITY
    return this.#limit === 0 ? Number.POSITIVE_INFINITY : (this.#scores[0] ?? 0)
  }

  add(item: number, score: number): void {
    const items = this.#items
    const scores = this.#scores
    const order = this.#order
    const size = this.#size
    let at = 0
    if (this.#size < this.#limit) {
      at = this.#size++
      while (at > 0) {
        const above = (at - 1) >> 1
        if (!isWorse(item, score, items[above] ?? 0, scores[above] ?? 0, order)) break
        items[at] = items[above] ?? 0
        scores[at] = scores[above] ?? 0
        at = above
      }
    } else {
      if (this.#limit === 0 || isWorse(item, score, items[0] ?? 0, scores[0] ?? 0, order)) return
      for (let below = 1; below < size; below = 2 * at + 1) {
        const other = below + 1
        if (
          other < size &&
          isWorse(items[other] ?? 0, scores[other] ?? 0, items[below] ?? 0, scores[below] ?? 0, order)
        ) {
          below = other
        }
        if (isWorse(item, score, items[below] ?? 0, scores[below] ?? 0, order)) break
        items[at] = items[below] ?? 0
        scores[at] = scores[below] ?? 0
        at = below
      }
    }
    items[at] = item
    scores[at] = score
  }

  /** Items, best first. */
  take(): number[] {
    const [items, scores, order] = [this.#items, this.#scores, this.#order]
    const places = Array.from({ length: this.#size }, (_, place) => place)
    const orderAt = (place: number): number => order[items[place] ?? 0] ?? 0
    places.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || orderAt(a) - orderAt(b))
    return places.map((place) => items[place] ?? 0)
  }
}

const isWorse = (item: number, score: number, than: number, thanScore: number, order: Float64Array): boolean =>
  score < thanScore || (score === thanScore && (order[item] ?? 0) > (order[than] ?? 0))
