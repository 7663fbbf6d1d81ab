import { grown } from './grown.js'

/** Blocks up to this size share a segment; a larger one has a segment of its own. */
const SEGMENT_BITS = 16
const SEGMENT_PLACES = 2 ** SEGMENT_BITS
const NONE = new Uint32Array(0)

/**
 * Many short lists of 32-bit numbers in a few typed arrays. A list lives in a block of 2ⁿ places and moves to a larger
 * one when it is full; blocks that were left are used again. Most words are rare, so an array object for each list would
 * cost more than what is in it. Segments let the memory grow without moving what is in it.
 */
export class ListStore {
  readonly #segments: Uint32Array[] = []
  /** Segments that were given back with their large block. */
  readonly #freeSegments: number[] = []
  /** The segment that small blocks are taken from, and how much of it is taken. */
  #current = -1
  #used = SEGMENT_PLACES
  #places = 0
  /** Small blocks that were left, by size. */
  readonly #freeBlocks: number[][] = Array.from({ length: SEGMENT_BITS + 2 }, () => [])
  /** For each list where its block begins: segment, then place in it. */
  #starts = new Uint32Array(256)
  #lengths = new Uint32Array(256)
  /** 0: no block; else a block of 2^(size - 1) places. */
  #sizes = new Uint8Array(256)

  /** Bytes held. */
  get bytes(): number {
    return 4 * this.#places + this.#starts.byteLength + this.#lengths.byteLength + this.#sizes.byteLength
  }

  length(list: number): number {
    return this.#lengths[list] ?? 0
  }

  /** The values of a list; valid until the next change. */
  view(list: number): Uint32Array {
    const from = this.startOf(list)
    return this.segmentOf(list).subarray(from, from + this.length(list))
  }

  /** The array that holds a list, and where in it the list starts: what `view` shows, without an object for it. */
  segmentOf(list: number): Uint32Array {
    return this.#segments[(this.#starts[list] ?? 0) >>> SEGMENT_BITS] ?? NONE
  }

  startOf(list: number): number {
    return (this.#starts[list] ?? 0) & (SEGMENT_PLACES - 1)
  }

  /** Replaces all values of a list. */
  set(list: number, values: ArrayLike<number>): void {
    this.clear(list)
    this.#reserve(list, values.length)
    this.segmentOf(list).set(values, this.startOf(list))
    this.#lengths[list] = values.length
  }

  /** Puts a value into a list that is in ascending order. */
  insert(list: number, value: number): void {
    const length = this.length(list)
    this.#reserve(list, length + 1)
    const segment = this.segmentOf(list)
    const from = this.startOf(list)
    // Mostly it is the greatest.
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

  /** Position of the first value of an ascending list that is not below the given one. */
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
    this.#segments[start >>> SEGMENT_BITS]?.set(values, start & (SEGMENT_PLACES - 1))
    this.#release(list)
    this.#starts[list] = start
    this.#lengths[list] = values.length
    this.#sizes[list] = size
  }

  #release(list: number): void {
    const size = this.#sizes[list] ?? 0
    const start = this.#starts[list] ?? 0
    if (size > SEGMENT_BITS + 1) {
      this.#places -= this.segmentOf(list).length
      this.#segments[start >>> SEGMENT_BITS] = NONE
      this.#freeSegments.push(start >>> SEGMENT_BITS)
    } else if (size > 0) this.#freeBlocks[size]?.push(start)
    this.#sizes[list] = 0
    this.#lengths[list] = 0
  }

  /** Where a block of 2^(size - 1) places begins. */
  #allocate(size: number): number {
    const places = 2 ** (size - 1)
    if (places > SEGMENT_PLACES) return this.#addSegment(places) * SEGMENT_PLACES
    const freed = this.#freeBlocks[size]?.pop()
    if (freed !== undefined) return freed
    if (this.#used + places > SEGMENT_PLACES) {
      this.#leaveRest()
      this.#current = this.#addSegment(SEGMENT_PLACES)
      this.#used = 0
    }
    const start = this.#current * SEGMENT_PLACES + this.#used
    this.#used += places
    return start
  }

  /** What is left of the segment becomes blocks for later. */
  #leaveRest(): void {
    while (this.#used < SEGMENT_PLACES) {
      const size = 32 - Math.clz32(SEGMENT_PLACES - this.#used)
      this.#freeBlocks[size]?.push(this.#current * SEGMENT_PLACES + this.#used)
      this.#used += 2 ** (size - 1)
    }
  }

  #addSegment(places: number): number {
    const segment = this.#freeSegments.pop() ?? this.#segments.length
    this.#segments[segment] = new Uint32Array(places)
    this.#places += places
    return segment
  }

  #growLists(count: number): void {
    this.#starts = grown(this.#starts, count)
    this.#lengths = grown(this.#lengths, count)
    this.#sizes = grown(this.#sizes, count)
  }
}
