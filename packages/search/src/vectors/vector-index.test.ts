import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NumberSet } from '../number-set.js'
import { packVectors } from './packed-vectors.js'
import { quantise, quantiseQuery, unitScale } from './quantise.js'
import { createVectorIndex, type VectorHit } from './vector-index.js'

const DIMENSIONS = 128

/** A seeded random number generator (mulberry32), 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Random vectors clustered around `topics` centres, like embeddings of real texts. */
function texts(seed: number, topics: number, dimensions = DIMENSIONS): () => Float32Array {
  const random = seeded(seed)
  const noise = () => random() + random() + random() - 1.5
  const centres = Array.from({ length: topics }, () => Float32Array.from({ length: dimensions }, noise))
  return () => {
    const centre = centres[Math.floor(random() * topics)] ?? new Float32Array(dimensions)
    return centre.map((value) => value + 0.7 * noise())
  }
}

interface Stored {
  number: number
  part: number
  codes: Int8Array
  scale: number
}
const stored = (number: number, vectors: readonly Float32Array[]): Stored[] =>
  vectors.map((vector, part) => {
    const codes = quantise(vector)
    return { number, part, codes, scale: unitScale(codes) }
  })

/** The expected result: every accepted vector scored in 32-bit floating-point arithmetic, and sorted. */
function bruteForce(all: Iterable<Stored>, query: Float32Array, limit: number, accept: (number: number) => boolean) {
  const queryCodes = quantiseQuery(query)
  const queryScale = Math.fround(unitScale(queryCodes))
  const hits: VectorHit[] = []
  for (const { number, part, codes, scale } of all) {
    if (!accept(number)) continue
    let sum = 0
    for (let i = 0; i < codes.length; i++) sum += (codes[i] ?? 0) * (queryCodes[i] ?? 0)
    const score = Math.fround(Math.fround(Math.fround(sum) * Math.fround(scale)) * queryScale)
    hits.push({ number, part, similarity: Math.max(-1, Math.min(1, score)) })
  }
  return hits.sort((a, b) => b.similarity - a.similarity || a.number - b.number || a.part - b.part).slice(0, limit)
}

const all = () => true
const overlap = (found: readonly VectorHit[], expected: readonly VectorHit[]): number => {
  const keys = new Set(found.map(({ number, part }) => `${number}/${part}`))
  return expected.filter(({ number, part }) => keys.has(`${number}/${part}`)).length / (expected.length || 1)
}

describe('VectorIndex', () => {
  it('returns vectors by descending similarity', () => {
    const text = texts(1, 3)
    const [first = text(), second = text()] = [text(), text()]
    const index = createVectorIndex(DIMENSIONS)
    index.put(7, [first, second])
    index.put(8, [second.map((value) => -value)])
    const hits = index.search(second, 10)
    expect(hits.map(({ number, part }) => [number, part])).toEqual([
      [7, 1],
      [7, 0],
      [8, 0],
    ])
    expect(hits[0]?.similarity).toBeCloseTo(1, 4)
    expect(hits[2]?.similarity).toBeCloseTo(-1, 4)
    expect(index.search(first, 1)).toMatchObject([{ number: 7, part: 0 }])
  })

  it('is empty at first', () => {
    const index = createVectorIndex(DIMENSIONS)
    expect(index.search(new Float32Array(DIMENSIONS), 10)).toEqual([])
    index.remove(1)
    expect(index.size).toBe(0)
  })

  it('equals brute force after any sequence of changes, with ties by number and part', () => {
    // A small pool, so that there are many ties.
    const pool = Array.from({ length: 6 }, texts(2, 4))
    const vectors = fc.array(fc.constantFrom(...pool), { maxLength: 4 })
    const change = fc.record({ number: fc.integer({ min: 0, max: 40 }), vectors, packed: fc.boolean() })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), fc.integer({ min: 0, max: 60 }), (changes, limit) => {
        const index = createVectorIndex(DIMENSIONS)
        const model = new Map<number, Stored[]>()
        for (const { number, vectors, packed } of changes) {
          model.set(number, stored(number, vectors))
          if (vectors.length === 0) index.remove(number)
          else if (packed) expect(index.putPacked(number, packVectors(vectors))).toBe(true)
          else index.put(number, vectors)
        }
        const everything = [...model.values()].flat()
        expect(index.size).toBe(everything.length)
        for (const query of pool.slice(0, 2)) {
          expect(index.search(query, limit)).toEqual(bruteForce(everything, query, limit, all))
        }
      }),
    )
  })

  it.each([256, 384, 512, 1536])('supports %d dimensions', (dimensions) => {
    const text = texts(dimensions, 5, dimensions)
    const vectors = Array.from({ length: 200 }, text)
    const index = createVectorIndex(dimensions)
    index.put(1, vectors)
    const query = text()
    expect(index.search(query, 50)).toEqual(bruteForce(stored(1, vectors), query, 50, all))
  })

  it('searches only the candidates that are accepted, each once', () => {
    const text = texts(3, 5)
    const index = createVectorIndex(DIMENSIONS)
    const everything = Array.from({ length: 300 }, (_, number) => {
      const vectors = [text(), text()]
      index.put(number, vectors)
      return stored(number, vectors)
    }).flat()
    const query = text()
    const candidates = [250, 3, 77, 3, 999]
    expect(index.search(query, 10, { candidates })).toEqual(
      bruteForce(everything, query, 10, (number) => candidates.includes(number)),
    )
    const accept = (number: number) => number > 50
    const accepted = new NumberSet(candidates.filter(accept))
    expect(index.search(query, 10, { candidates, accepted })).toEqual(
      bruteForce(everything, query, 10, (number) => candidates.includes(number) && accept(number)),
    )
  })

  it('changes nothing if packed vectors cannot be read', () => {
    const [vector = new Float32Array()] = Array.from({ length: 1 }, texts(4, 1))
    const index = createVectorIndex(DIMENSIONS)
    index.put(1, [vector])
    expect(index.putPacked(1, packVectors([new Float32Array(256)]))).toBe(false)
    expect(index.putPacked(1, Uint8Array.of(99))).toBe(false)
    expect(index.search(vector, 1)).toMatchObject([{ number: 1 }])
  })

  it('rejects other dimensions', () => {
    expect(() => createVectorIndex(100)).toThrow(RangeError)
    const index = createVectorIndex(DIMENSIONS)
    expect(() => index.put(1, [new Float32Array(64)])).toThrow(RangeError)
    expect(() => index.search(new Float32Array(64), 1)).toThrow(RangeError)
    expect(index.size).toBe(0)
  })
})

describe('VectorIndex with 100,000 vectors', () => {
  const AGENTS = 40_000
  const text = texts(5, 2000)
  const queries = Array.from({ length: 20 }, text)
  const query = fc.constantFrom(...queries)
  const index = createVectorIndex(DIMENSIONS)
  const everything: Stored[] = []
  for (let number = 0; number < AGENTS; number++) {
    const vectors = Array.from({ length: 1 + (number % 4) }, text)
    everything.push(...stored(number, vectors))
    index.put(number, vectors)
  }

  const acceptedBy = (accept: (number: number) => boolean) =>
    new NumberSet(Array.from({ length: AGENTS }, (_, number) => number).filter(accept))

  /** Accepts about this share of the agents, different ones for each seed. */
  const share = (selectivity: number, seed: number) => (number: number) =>
    (Math.imul(number + seed, 0x9e3779b1) >>> 0) / 2 ** 32 < selectivity

  it.each([0.00001, 0.0001, 0.001, 0.01, 0.1, 0.5, 1])(
    'equals brute force when a share of %d is accepted',
    (selectivity) => {
      fc.assert(
        fc.property(query, fc.nat(), fc.constantFrom(1, 10, 100), (query, seed, limit) => {
          const accept = share(selectivity, seed)
          expect(index.search(query, limit, { accepted: acceptedBy(accept) })).toEqual(
            bruteForce(everything, query, limit, accept),
          )
        }),
        { numRuns: 5 },
      )
    },
  )

  it('has a recall@10 above 0.97 without a filter', () => {
    const everyAgent = acceptedBy(all)
    const recalls = queries.map((query) =>
      overlap(index.search(query, 10), index.search(query, 10, { accepted: everyAgent })),
    )
    expect(recalls.reduce((sum, recall) => sum + recall) / recalls.length).toBeGreaterThan(0.97)
  })

  it.each([0.0001, 0.01, 0.3, 0.9, 1])(
    'returns only accepted vectors in approximate mode, with good recall, when a share of %d is accepted',
    (selectivity) => {
      fc.assert(
        fc.property(query, fc.nat(), (query, seed) => {
          const accept = share(selectivity, seed)
          const accepted = acceptedBy(accept)
          const exact = index.search(query, 10, { accepted })
          const found = index.search(query, 10, { accepted, approximate: true })
          expect(found).toHaveLength(exact.length)
          expect(found.every(({ number }) => accept(number))).toBe(true)
          expect(overlap(found, exact)).toBeGreaterThanOrEqual(exact.length === 0 ? 0 : 0.6)
        }),
        { numRuns: 10 },
      )
    },
  )

  it('finds accepted vectors even if none of the nearest is accepted', () => {
    const [query = text()] = queries
    const near = new Set(index.search(query, 20_000).map(({ number }) => number))
    const accept = (number: number) => !near.has(number)
    const found = index.search(query, 5, { accepted: acceptedBy(accept), approximate: true })
    expect(found).toHaveLength(5)
    expect(found.every(({ number }) => accept(number))).toBe(true)
  })
})
