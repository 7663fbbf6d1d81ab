/** Ends an agent's chain of rows. */
const NONE = -1

/**
 * Whose vector is in which row. Rows in use are always 0 to size - 1: the last row moves to where one is freed, so a
 * scan meets no gaps. The rows of an agent form a chain, which costs four bytes a row and no objects.
 */
export class RowOwners {
  #size = 0
  #numbers = new Float64Array(1024)
  #parts = new Uint16Array(1024)
  #next = new Int32Array(1024)
  readonly #first = new Map<number, number>()

  get size(): number {
    return this.#size
  }

  numberOf(row: number): number {
    return this.#numbers[row] ?? Number.NaN
  }

  partOf(row: number): number {
    return this.#parts[row] ?? Number.NaN
  }

  /** The agent's rows, in no order. */
  rowsOf(number: number): number[] {
    const rows: number[] = []
    for (let row = this.#first.get(number) ?? NONE; row !== NONE; row = this.#next[row] ?? NONE) rows.push(row)
    return rows
  }

  /** Takes a row for one vector of the agent. */
  add(number: number, part: number): number {
    const row = this.#size
    if (row === this.#numbers.length) this.#grow()
    this.#size++
    this.#numbers[row] = number
    this.#parts[row] = part
    this.#next[row] = this.#first.get(number) ?? NONE
    this.#first.set(number, row)
    return row
  }

  /** Frees the agent's rows; `move` is told which row to copy to which, in this order. */
  remove(number: number, move: (from: number, to: number) => void): void {
    // The highest first: so the row that moves into the gap is never another one of this agent's.
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

  #grow(): void {
    const length = Math.ceil(this.#numbers.length * 1.5)
    const { numbers, parts, next } = { numbers: this.#numbers, parts: this.#parts, next: this.#next }
    this.#numbers = new Float64Array(length)
    this.#parts = new Uint16Array(length)
    this.#next = new Int32Array(length)
    this.#numbers.set(numbers)
    this.#parts.set(parts)
    this.#next.set(next)
  }
}
