/**
 * Many short lists of 32-bit numbers in one typed array. A list lives in a block of 2ⁿ places and moves to a larger one
 * when it is full; blocks that were left are used again. Most words are rare, so an array object for each list would
 * cost more than what is in it.
 */
export class ListStore {
  #pool = new Uint32Array(1024)
  #used = 0
  /** Blocks that were left, by size. */
  readonly #free: number[][] = Array.from({ length: 33 }, () => [])
  #offset = new Uint32Array(256)
  #length = new Uint32Array(256)
  /** 0: no block; else a block of 2^(size - 1) places. */
  #size = new Uint8Array(256)

  /** Bytes held. */
  get bytes(): number {
    return this.#pool.byteLength + this.#offset.byteLength + this.#length.byteLength + this.#size.byteLength
  }

  length(list: number): number {
    return this.#length[list] ?? 0
  }

  /** The values of a list; valid until the next change. */
  view(list: number): Uint32Array {
    const from = this.#offset[list] ?? 0
    return this.#pool.subarray(from, from + this.length(list))
  }

  push(list: number, value: number): void {
    const length = this.length(list)
    this.#reserve(list, length + 1)
    this.#pool[(this.#offset[list] ?? 0) + length] = value
    this.#length[list] = length + 1
  }

  /** Replaces all values of a list. */
  set(list: number, values: ArrayLike<number>): void {
    this.clear(list)
    this.#reserve(list, values.length)
    this.#pool.set(values, this.#offset[list] ?? 0)
    this.#length[list] = values.length
  }

  /** Takes out the value at a position; the last one takes its place. */
  removeAt(list: number, position: number): void {
    const values = this.view(list)
    values[position] = values[values.length - 1] ?? 0
    this.#length[list] = values.length - 1
    if (values.length === 1) this.clear(list)
  }

  clear(list: number): void {
    if (list < this.#size.length) this.#release(list)
  }

  #reserve(list: number, length: number): void {
    if (list >= this.#size.length) this.#growLists(list + 1)
    const size = length === 0 ? 0 : Math.ceil(Math.log2(length)) + 1
    if (size <= (this.#size[list] ?? 0)) return
    const offset = this.#allocate(size)
    const values = this.view(list)
    this.#pool.set(values, offset)
    this.#release(list)
    this.#offset[list] = offset
    this.#length[list] = values.length
    this.#size[list] = size
  }

  #release(list: number): void {
    const size = this.#size[list] ?? 0
    if (size > 0) this.#free[size]?.push(this.#offset[list] ?? 0)
    this.#size[list] = 0
    this.#length[list] = 0
  }

  #allocate(size: number): number {
    const freed = this.#free[size]?.pop()
    if (freed !== undefined) return freed
    const offset = this.#used
    this.#used += 2 ** (size - 1)
    if (this.#used > this.#pool.length) this.#pool = grown(this.#pool, this.#used)
    return offset
  }

  #growLists(count: number): void {
    this.#offset = grown(this.#offset, count)
    this.#length = grown(this.#length, count)
    this.#size = grown(this.#size, count)
  }
}

/** Room to grow by half when a typed array is full: few copies, little waste. */
const GROWTH = 1.5

/** A copy with room for at least so many values. */
export function grown<T extends Uint8Array | Uint32Array | Float32Array | Float64Array>(array: T, length: number): T {
  if (length <= array.length) return array
  const copy = new (array.constructor as new (length: number) => T)(Math.ceil(Math.max(length, array.length * GROWTH)))
  copy.set(array)
  return copy
}
