import { ensureCapacity } from '../ensure-capacity.js'

const NONE = 0
const FIRST_SIZE = 1024

/**
 * Finds entries by key: a table of chains in typed arrays. An entry is added and removed in the same time however many
 * others have its key, which whoever floods the directory decides.
 */
export class HashChains {
  /** By place in the table, the first entry; entries are counted from 1 here, 0 is none. */
  #heads = new Uint32Array(FIRST_SIZE)
  #keys = new Uint32Array(FIRST_SIZE)
  #next = new Uint32Array(FIRST_SIZE)
  #previous = new Uint32Array(FIRST_SIZE)
  #count = 0

  /** Bytes held. */
  get bytes(): number {
    return this.#heads.byteLength + this.#keys.byteLength + this.#next.byteLength + this.#previous.byteLength
  }

  add(entry: number, key: number): void {
    this.#keys = ensureCapacity(this.#keys, entry + 2)
    this.#next = ensureCapacity(this.#next, entry + 2)
    this.#previous = ensureCapacity(this.#previous, entry + 2)
    if (++this.#count > this.#heads.length) this.#spread()
    this.#keys[entry + 1] = key
    this.#link(entry + 1)
  }

  /** Takes out an entry that was added. */
  remove(entry: number): void {
    const [next, previous] = [this.#next[entry + 1] ?? NONE, this.#previous[entry + 1] ?? NONE]
    if (previous === NONE) this.#heads[this.#placeOf(entry + 1)] = next
    else this.#next[previous] = next
    if (next !== NONE) this.#previous[next] = previous
    this.#count--
  }

  /** Entries with the key, the latest first; looks at no more than `most`. */
  *find(key: number, most: number): Generator<number> {
    let entry = this.#heads[key & (this.#heads.length - 1)] ?? NONE
    for (let looked = 0; entry !== NONE && looked < most; looked++) {
      if (this.#keys[entry] === key) yield entry - 1
      entry = this.#next[entry] ?? NONE
    }
  }

  #placeOf(link: number): number {
    return (this.#keys[link] ?? 0) & (this.#heads.length - 1)
  }

  #link(link: number): void {
    const place = this.#placeOf(link)
    const first = this.#heads[place] ?? NONE
    this.#next[link] = first
    this.#previous[link] = NONE
    if (first !== NONE) this.#previous[first] = link
    this.#heads[place] = link
  }

  /** Doubles the table, so that chains stay short. */
  #spread(): void {
    const heads = this.#heads
    this.#heads = new Uint32Array(heads.length * 2)
    for (const head of heads) {
      for (let link = head; link !== NONE; ) {
        const next = this.#next[link] ?? NONE
        this.#link(link)
        link = next
      }
    }
  }
}
