import { ensureCapacity } from '../ensure-capacity.js'

/** Marks the end of an agent's linked list of rows. */
const NONE = -1

/** For each row its agent and part, to be saved. */
export interface RowOwnersState {
  readonly numbers: Float64Array
  readonly parts: Uint16Array
}

/**
 * Maps rows to agents and agents to rows. Rows are always contiguous: when one is freed, the last row moves into the
 * gap. The rows of an agent form a linked list in a typed array, which costs four bytes for each row and no objects.
 */
export class RowOwners {
  #size = 0
  #numbers = new Float64Array(1024)
  #parts = new Uint16Array(1024)
  #next = new Int32Array(1024)
  readonly #first = new Map<number, number>()

  constructor(saved?: RowOwnersState) {
    for (const [row, number] of saved?.numbers.entries() ?? []) this.add(number, saved?.parts[row] ?? 0)
  }

  /** Valid until the next change. */
  get state(): RowOwnersState {
    return { numbers: this.#numbers.subarray(0, this.#size), parts: this.#parts.subarray(0, this.#size) }
  }

  get size(): number {
    return this.#size
  }

  numberOf(row: number): number {
    return this.#numbers[row] ?? Number.NaN
  }

  partOf(row: number): number {
    return this.#parts[row] ?? Number.NaN
  }

  /** The agent's rows, unordered. */
  rowsOf(number: number): number[] {
    const rows: number[] = []
    for (let row = this.#first.get(number) ?? NONE; row !== NONE; row = this.#next[row] ?? NONE) rows.push(row)
    return rows
  }

  /** Allocates a row for one vector of the agent. */
  add(number: number, part: number): number {
    const row = this.#size
    this.#size++
    this.#numbers = ensureCapacity(this.#numbers, this.#size)
    this.#parts = ensureCapacity(this.#parts, this.#size)
    this.#next = ensureCapacity(this.#next, this.#size)
    this.#numbers[row] = number
    this.#parts[row] = part
    this.#next[row] = this.#first.get(number) ?? NONE
    this.#first.set(number, row)
    return row
  }

  /** Frees the agent's rows; `move` is called for each row that fills a gap. */
  remove(number: number, move: (from: number, to: number) => void): void {
    // From the highest row down, so that the row moved into a gap never belongs to this agent.
    const rows = this.rowsOf(number).sort((a, b) => b - a)
    this.#first.delete(number)
    for (const gap of rows) {
      const last = --this.#size
      if (gap === last) continue
      this.#relink(last, gap)
      move(last, gap)
    }
  }

  #relink(from: number, to: number): void {
    const number = this.numberOf(from)
    let before = this.#first.get(number) ?? NONE
    if (before === from) this.#first.set(number, to)
    else {
      while (this.#next[before] !== from) before = this.#next[before] ?? NONE
      this.#next[before] = to
    }
    this.#numbers[to] = number
    this.#parts[to] = this.partOf(from)
    this.#next[to] = this.#next[from] ?? NONE
  }
}
