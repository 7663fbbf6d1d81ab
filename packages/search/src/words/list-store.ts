import { ensureCapacity } from '../ensure-capacity.js'

/** Blocks up to this size share a segment; a larger block gets its own. */
const SEGMENT_BITS = 16
const SEGMENT_SIZE = 2 ** SEGMENT_BITS
const EMPTY = new Uint32Array(0)

/** Everything in a `ListStore`, to be saved. */
export interface ListStoreState {
  readonly segments: readonly Uint32Array[]
  readonly freeSegments: readonly number[]
  readonly current: number
  readonly used: number
  readonly freeBlocks: readonly (readonly number[])[]
  readonly starts: Uint32Array<ArrayBuffer>
  readonly lengths: Uint32Array<ArrayBuffer>
  readonly sizes: Uint8Array<ArrayBuffer>
}

/**
 * Many short lists of 32-bit numbers in a few typed arrays. A list occupies a block of 2ⁿ values and moves to a larger
 * one when it is full; freed blocks are reused. Most terms are rare, so an array object for each list would cost more
 * than its content. Memory grows by segments, which never move.
 */
export class ListStore {
  #segments: Uint32Array[] = []
  /** Indices of segments freed with their large block. */
  #freeSegments: number[] = []
  /** The segment that small blocks are allocated from, and how many of its values are used. */
  #current = -1
  #used = SEGMENT_SIZE
  #allocated = 0
  /** Freed small blocks, by size class. */
  #freeBlocks: number[][] = Array.from({ length: SEGMENT_BITS + 2 }, () => [])
  /** For each list the start of its block: segment index in the high bits, offset in the low bits. */
  #starts = new Uint32Array(256)
  #lengths = new Uint32Array(256)
  /** Size class: 0 for no block, else a block of 2^(size - 1) values. */
  #sizes = new Uint8Array(256)

  constructor(saved?: ListStoreState) {
    if (!saved) return
    this.#segments = [...saved.segments]
    this.#freeSegments = [...saved.freeSegments]
    this.#current = saved.current
    this.#used = saved.used
    this.#allocated = saved.segments.reduce((sum, { length }) => sum + length, 0)
    this.#freeBlocks = saved.freeBlocks.map((blocks) => [...blocks])
    this.#starts = saved.starts
    this.#lengths = saved.lengths
    this.#sizes = saved.sizes
  }

  /** Valid until the next change. */
  get state(): ListStoreState {
    return {
      segments: this.#segments,
      freeSegments: this.#freeSegments,
      current: this.#current,
      used: this.#used,
      freeBlocks: this.#freeBlocks,
      starts: this.#starts,
      lengths: this.#lengths,
      sizes: this.#sizes,
    }
  }

  /** Memory used. */
  get bytes(): number {
    return 4 * this.#allocated + this.#starts.byteLength + this.#lengths.byteLength + this.#sizes.byteLength
  }

  length(list: number): number {
    return this.#lengths[list] ?? 0
  }

  /** The values of a list; valid until the next change to any list. */
  view(list: number): Uint32Array {
    const from = this.startOf(list)
    return this.segmentOf(list).subarray(from, from + this.length(list))
  }

  /** The array that holds a list; with `startOf` and `length` the same as `view`, without creating an object. */
  segmentOf(list: number): Uint32Array {
    return this.#segments[(this.#starts[list] ?? 0) >>> SEGMENT_BITS] ?? EMPTY
  }

  startOf(list: number): number {
    return (this.#starts[list] ?? 0) & (SEGMENT_SIZE - 1)
  }

  /** Replaces all values of a list. */
  set(list: number, values: ArrayLike<number>): void {
    this.clear(list)
    this.#reserve(list, values.length)
    this.segmentOf(list).set(values, this.startOf(list))
    this.#lengths[list] = values.length
  }

  /** Inserts a value into an ascending list. */
  insert(list: number, value: number): void {
    const length = this.length(list)
    this.#reserve(list, length + 1)
    const segment = this.segmentOf(list)
    const from = this.startOf(list)
    // Fast path: the value is mostly the greatest.
    const at = length === 0 || (segment[from + length - 1] ?? 0) < value ? length : this.lowerBound(list, value)
    if (at < length) segment.copyWithin(from + at + 1, from + at, from + length)
    segment[from + at] = value
    this.#lengths[list] = length + 1
  }

  /** The value at a position, or undefined after the last. */
  at(list: number, position: number): number | undefined {
    return position < this.length(list) ? this.segmentOf(list)[this.startOf(list) + position] : undefined
  }

  removeAt(list: number, position: number): void {
    const length = this.length(list)
    const from = this.startOf(list)
    this.segmentOf(list).copyWithin(from + position, from + position + 1, from + length)
    this.#lengths[list] = length - 1
    if (length === 1) this.clear(list)
  }

  clear(list: number): void {
    if (list < this.#sizes.length) this.#release(list)
  }

  /** Position of the first value of an ascending list that is greater than or equal to `value`. */
  lowerBound(list: number, value: number): number {
    const segment = this.segmentOf(list)
    const from = this.startOf(list)
    let low = 0
    let high = this.length(list)
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((segment[from + middle] ?? 0) < value) low = middle + 1
      else high = middle
    }
    return low
  }

  #reserve(list: number, length: number): void {
    if (list >= this.#sizes.length) this.#growLists(list + 1)
    const size = length === 0 ? 0 : 33 - Math.clz32(length - 1)
    if (size <= (this.#sizes[list] ?? 0)) return
    const start = this.#allocate(size)
    const values = this.view(list)
    this.#segments[start >>> SEGMENT_BITS]?.set(values, start & (SEGMENT_SIZE - 1))
    this.#release(list)
    this.#starts[list] = start
    this.#lengths[list] = values.length
    this.#sizes[list] = size
  }

  #release(list: number): void {
    const size = this.#sizes[list] ?? 0
    const start = this.#starts[list] ?? 0
    if (size > SEGMENT_BITS + 1) {
      this.#allocated -= this.segmentOf(list).length
      this.#segments[start >>> SEGMENT_BITS] = EMPTY
      this.#freeSegments.push(start >>> SEGMENT_BITS)
    } else if (size > 0) this.#freeBlocks[size]?.push(start)
    this.#sizes[list] = 0
    this.#lengths[list] = 0
  }

  /** Returns the start of a block of 2^(size - 1) values. */
  #allocate(size: number): number {
    const length = 2 ** (size - 1)
    if (length > SEGMENT_SIZE) return this.#addSegment(length) * SEGMENT_SIZE
    const freed = this.#freeBlocks[size]?.pop()
    if (freed !== undefined) return freed
    if (this.#used + length > SEGMENT_SIZE) {
      this.#freeRest()
      this.#current = this.#addSegment(SEGMENT_SIZE)
      this.#used = 0
    }
    const start = this.#current * SEGMENT_SIZE + this.#used
    this.#used += length
    return start
  }

  /** Turns the unused rest of the current segment into free blocks. */
  #freeRest(): void {
    while (this.#used < SEGMENT_SIZE) {
      const size = 32 - Math.clz32(SEGMENT_SIZE - this.#used)
      this.#freeBlocks[size]?.push(this.#current * SEGMENT_SIZE + this.#used)
      this.#used += 2 ** (size - 1)
    }
  }

  #addSegment(length: number): number {
    const segment = this.#freeSegments.pop() ?? this.#segments.length
    this.#segments[segment] = new Uint32Array(length)
    this.#allocated += length
    return segment
  }

  #growLists(count: number): void {
    this.#starts = ensureCapacity(this.#starts, count)
    this.#lengths = ensureCapacity(this.#lengths, count)
    this.#sizes = ensureCapacity(this.#sizes, count)
  }
}
