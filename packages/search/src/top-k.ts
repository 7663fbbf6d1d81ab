import { ensureCapacity } from './ensure-capacity.js'

/** Compares two items of equal score; negative if the first one ranks higher. */
export type CompareTies = (a: number, b: number) => number

/** Selects the k best of many scored items, in a heap whose root is the worst one kept. Reuses its memory. */
export class TopK {
  #k = 0
  #size = 0
  #items = new Uint32Array(256)
  #scores = new Float64Array(256)
  #compareTies: CompareTies = () => 0

  /** Drops all items and starts over. */
  reset(k: number, compareTies: CompareTies): void {
    this.#k = k
    this.#size = 0
    this.#items = ensureCapacity(this.#items, k)
    this.#scores = ensureCapacity(this.#scores, k)
    this.#compareTies = compareTies
  }

  /** Items that score less would not be kept; lets callers skip an expensive check. */
  get threshold(): number {
    if (this.#size < this.#k) return Number.NEGATIVE_INFINITY
    return this.#k === 0 ? Number.POSITIVE_INFINITY : (this.#scores[0] ?? 0)
  }

  add(item: number, score: number): void {
    const items = this.#items
    const scores = this.#scores
    const size = this.#size
    let at = 0
    if (size < this.#k) {
      at = this.#size++
      while (at > 0) {
        const parent = (at - 1) >> 1
        if (!this.#isWorse(item, score, parent)) break
        items[at] = items[parent] ?? 0
        scores[at] = scores[parent] ?? 0
        at = parent
      }
    } else {
      if (this.#k === 0 || this.#isWorse(item, score, 0)) return
      for (let child = 1; child < size; child = 2 * at + 1) {
        const right = child + 1
        if (right < size && this.#isWorse(items[right] ?? 0, scores[right] ?? 0, child)) child = right
        if (this.#isWorse(item, score, child)) break
        items[at] = items[child] ?? 0
        scores[at] = scores[child] ?? 0
        at = child
      }
    }
    items[at] = item
    scores[at] = score
  }

  /** The items kept, best first. */
  sorted(): number[] {
    const [items, scores] = [this.#items, this.#scores]
    const positions = Array.from({ length: this.#size }, (_, position) => position)
    positions.sort(
      (a, b) => descending(scores[a] ?? 0, scores[b] ?? 0) || this.#compareTies(items[a] ?? 0, items[b] ?? 0),
    )
    return positions.map((position) => items[position] ?? 0)
  }

  /** Whether an item ranks below the one at a position of the heap. */
  #isWorse(item: number, score: number, position: number): boolean {
    const other = this.#scores[position] ?? 0
    return score < other || (score === other && this.#compareTies(item, this.#items[position] ?? 0) > 0)
  }
}

/** For `sort`. A difference would be a new object for each comparison, because V8 boxes fractions. */
const descending = (a: number, b: number): number => (a > b ? -1 : a < b ? 1 : 0)

/** An agent and its score. */
export interface Scored {
  readonly number: number
  readonly score: number
}

/** Sorts best first, ties in registration order, so that pages are stable. */
export const byScore = (a: Scored, b: Scored): number => descending(a.score, b.score) || a.number - b.number
