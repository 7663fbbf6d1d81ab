import { unpackVectors } from './packed-vectors.js'
import { quantise } from './quantise.js'
import { RowOwners } from './row-owners.js'
import { createRowStore } from './row-store.js'
import { takeBest } from './take-best.js'

/** Up to this many vectors all are scored: that takes less than half a millisecond and misses nothing. */
const SMALL_SET = 5000

/**
 * How many vectors, nearest by their signs, are scored to find the best `limit`. With the built-in model that finds 0.99
 * of the true best 10 and 0.98 of the best 100, among 107,000 vectors and among a million. Taking the mean of all vectors
 * away before looking at signs found less, and so did rotating them.
 */
const candidatesFor = (limit: number): number => 300 + 10 * limit

/** Of one agent: parts are kept in 16 bits. */
const MOST_VECTORS = 65_536

/** A vector that was found, and whose it is. */
export interface VectorHit {
  /** The agent's number. */
  readonly number: number
  /** Which of the agent's vectors: 0 is its description, others are examples and operations. */
  readonly part: number
  /** Cosine, -1 to 1. */
  readonly similarity: number
}

/** Which vectors are searched. */
export interface VectorFilter {
  /**
   * A hard filter: the result is exactly what filtering all vectors and then taking the best would give, whatever its
   * selectivity. Asked once or more for an agent, so the answer may not change during the search.
   */
  readonly accept?: (number: number) => boolean
  /** If only a few agents can be meant, their numbers: only those are looked at, and all of them. */
  readonly candidates?: Iterable<number>
  /**
   * Whether a few of the best may be missed in a large set, which is much faster; by default, only without `accept`.
   * For an `accept` that most agents pass, such as visibility: nothing else is returned, and if few pass it is exact.
   */
  readonly approximate?: boolean
}

/** All vectors of a directory, several for each agent, none of them averaged. */
export interface VectorIndex {
  /** How many vectors there are. */
  readonly size: number
  /** Memory of the vectors themselves. */
  readonly bytes: number
  /** Replaces all vectors of the agent. */
  put(number: number, vectors: readonly Float32Array[]): void
  /**
   * Like `put`, with what `packVectors` made of the vectors. False, and nothing is changed, if the bytes were made by
   * another version or for other dimensions: then the agent must be embedded again.
   */
  putPacked(number: number, bytes: Uint8Array): boolean
  remove(number: number): void
  /**
   * The most similar vectors, best first; the equally similar by number, then by part. Without a filter a few of them
   * may be missing in a large set.
   */
  search(query: Float32Array, limit: number, filter?: VectorFilter): VectorHit[]
}

/** @param dimensions of all vectors and queries; a multiple of 128 */
export function createVectorIndex(dimensions: number): VectorIndex {
  if (dimensions <= 0 || dimensions % 128 !== 0) throw new RangeError(`${dimensions} is not a multiple of 128`)
  const owners = new RowOwners()
  const store = createRowStore(dimensions)

  const check = (vector: Float32Array): Float32Array => {
    if (vector.length === dimensions) return vector
    throw new RangeError(`a vector has ${vector.length} dimensions, not ${dimensions}`)
  }

  const toCodes = (vector: Float32Array): Int8Array => quantise(check(vector))

  const replace = (number: number, vectors: readonly Int8Array[]): void => {
    if (vectors.length > MOST_VECTORS) throw new RangeError(`an agent has at most ${MOST_VECTORS} vectors`)
    store.reserve(owners.size + vectors.length) // before anything is changed, as it may fail
    owners.remove(number, store.copy)
    for (const [part, codes] of vectors.entries()) store.write(owners.add(number, part), codes)
  }

  /** Rows that a filter leaves, in order, as memory is read fastest so. */
  const rowsLeft = ({ accept = () => true, candidates }: VectorFilter): Uint32Array => {
    if (candidates) {
      const numbers = [...new Set(candidates)].filter(accept)
      return Uint32Array.from(numbers.flatMap((number) => owners.rowsOf(number))).sort()
    }
    const rows = new Uint32Array(owners.size)
    let count = 0
    let number = Number.NaN
    let accepted = false
    for (let row = 0; row < rows.length; row++) {
      // The rows of an agent mostly lie together: so it is mostly asked once.
      if (owners.numberOf(row) !== number) {
        number = owners.numberOf(row)
        accepted = accept(number)
      }
      if (accepted) rows[count++] = row
    }
    return rows.subarray(0, count)
  }

  /**
   * Rows near the query by their signs, enough of them accepted; undefined if so few are accepted that it is better to
   * score them all.
   */
  const rowsNear = (limit: number, { accept }: VectorFilter): Uint32Array | undefined => {
    const wanted = candidatesFor(limit)
    if (wanted > owners.size / 8) return undefined
    const nearest = store.compareSigns(owners.size)
    for (let looked = wanted; looked <= owners.size / 8; looked *= 4) {
      const near = nearest(looked)
      const rows = accept ? near.filter((row) => accept(owners.numberOf(row))) : near
      if (rows.length >= wanted) return rows
    }
    return undefined
  }

  const hits = (rows: Uint32Array, similarities: Float32Array, limit: number): VectorHit[] => {
    const number = (index: number): number => owners.numberOf(rows[index] ?? 0)
    const part = (index: number): number => owners.partOf(rows[index] ?? 0)
    return takeBest(similarities, limit, (a, b) => number(a) - number(b) || part(a) - part(b)).map((index) => ({
      number: number(index),
      part: part(index),
      similarity: Math.max(-1, Math.min(1, similarities[index] ?? 0)), // rounding may lead just beyond
    }))
  }

  return {
    get size() {
      return owners.size
    },
    get bytes() {
      return store.bytes
    },
    put: (number, vectors) => replace(number, vectors.map(toCodes)),
    putPacked(number, bytes) {
      const vectors = unpackVectors(bytes, dimensions)
      if (vectors) replace(number, vectors)
      return vectors !== undefined
    },
    remove: (number) => owners.remove(number, store.copy),
    search(query, limit, filter = {}) {
      store.setQuery(check(query))
      const { accept, candidates, approximate = !accept } = filter
      const mayMiss = approximate && !candidates && owners.size > SMALL_SET
      const rows = (mayMiss ? rowsNear(limit, filter) : undefined) ?? rowsLeft(filter)
      return hits(rows, store.score(rows), limit)
    },
  }
}
