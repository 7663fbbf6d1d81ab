import { ensureCapacity } from '../ensure-capacity.js'

const NONE = 0
const INITIAL_SIZE = 1024

/**
 * A hash multimap from 32-bit keys to entry numbers, with separate chaining in typed arrays. Chains are doubly linked:
 * removing an entry takes constant time even if an attacker registers many entries with the same key.
 */
export class ChainedHashTable {
  /** First link of each bucket. A link is an entry number plus 1; 0 means none. */
  #heads = new Uint32Array(INITIAL_SIZE)
  #keys = new Uint32Array(INITIAL_SIZE)
  #next = new Uint32Array(INITIAL_SIZE)
  #previous = new Uint32Array(INITIAL_SIZE)
  #count = 0

  /** Memory used. */
  get bytes(): number {
    return this.#heads.byteLength + this.#keys.byteLength + this.#next.byteLength + this.#previous.byteLength
  }

  add(entry: number, key: number): void {
    this.#keys = ensureCapacity(this.#keys, entry + 2)
    this.#next = ensureCapacity(this.#next, entry + 2)
    this.#previous = ensureCapacity(this.#previous, entry + 2)
    if (++this.#count > this.#heads.length) this.#rehash()
    this.#keys[entry + 1] = key
    this.#link(entry + 1)
  }

  /** Removes an entry; it must be present. */
  remove(entry: number): void {
    const [next, previous] = [this.#next[entry + 1] ?? NONE, this.#previous[entry + 1] ?? NONE]
    if (previous === NONE) this.#heads[this.#bucketOf(entry + 1)] = next
    else this.#next[previous] = next
    if (next !== NONE) this.#previous[next] = previous
    this.#count--
  }

  /** Entries with the key, latest first; visits at most `maxVisited` entries of the bucket. */
  *find(key: number, maxVisited: number): Generator<number> {
    let link = this.#heads[key & (this.#heads.length - 1)] ?? NONE
    for (let visited = 0; link !== NONE && visited < maxVisited; visited++) {
      if (this.#keys[link] === key) yield link - 1
      link = this.#next[link] ?? NONE
    }
  }

  #bucketOf(link: number): number {
    return (this.#keys[link] ?? 0) & (this.#heads.length - 1)
  }

  #link(link: number): void {
    const bucket = this.#bucketOf(link)
    const first = this.#heads[bucket] ?? NONE
    this.#next[link] = first
    this.#previous[link] = NONE
    if (first !== NONE) this.#previous[first] = link
    this.#heads[bucket] = link
  }

  /** Doubles the number of buckets, so that chains stay short. */
  #rehash(): void {
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
