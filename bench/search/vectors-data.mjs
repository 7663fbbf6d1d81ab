/**
 * Vectors for the benchmark: those of real texts if a file of them is given, else made-up ones which lie as those do
 * (measured on 81,319 descriptions and operations with the built-in model: any two texts have a cosine of 0.2, the ten
 * nearest to a request 0.57 to 0.64).
 */
import { readFileSync } from 'node:fs'

export const DIMENSIONS = 512
/** So of the best 100 half are chance: what an approximate search finds of those says nothing of real texts. */
const TEXTS_PER_TOPIC = 50

/** Numbers from 0 to 1 which are the same in every run. */
export function seeded(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Scales to length 1: a plain scan takes dot products for cosines. */
function normalise(vector) {
  let squares = 0
  for (let i = 0; i < DIMENSIONS; i++) squares += vector[i] * vector[i]
  const scale = 1 / Math.sqrt(squares)
  for (let i = 0; i < DIMENSIONS; i++) vector[i] *= scale
}

/** What all texts have in common, what those of a topic have in common, and what only one has. */
export function madeUp(size, queries) {
  const random = seeded(1)
  // Slices of one long noise stand for noise of their own: drawing 512 numbers for each would take most of the time.
  const noise = Float32Array.from({ length: 2 ** 22 }, () => (random() + random() + random() - 1.5) * 2)
  const slice = () => {
    const start = Math.floor(random() * (noise.length - DIMENSIONS))
    return noise.subarray(start, start + DIMENSIONS)
  }
  const common = slice()
  const topics = Array.from({ length: Math.ceil(size / TEXTS_PER_TOPIC) }, slice)
  const text = (into) => {
    const topic = topics[Math.floor(random() * topics.length)]
    const own = slice()
    for (let i = 0; i < DIMENSIONS; i++) into[i] = 0.45 * common[i] + 0.63 * topic[i] + 0.63 * own[i]
    normalise(into)
  }
  return fill(size, queries, text, text)
}

/** The vectors of the files; beyond those, mixtures of two of them. Queries are texts of their own. */
export function fromFiles(file, queryFile, size, queries) {
  const vectors = readFloats(file)
  const asked = readFloats(queryFile)
  const random = seeded(2)
  const count = vectors.length / DIMENSIONS
  const at = (all, index) => all.subarray(index * DIMENSIONS, (index + 1) * DIMENSIONS)
  const mixture = (into, index) => {
    if (index < count) return into.set(at(vectors, index))
    const [one, other] = [random(), random()].map((value) => at(vectors, Math.floor(value * count)))
    const weight = random() * 0.7
    for (let i = 0; i < DIMENSIONS; i++) into[i] = one[i] + weight * other[i]
    normalise(into)
  }
  const step = Math.floor(asked.length / DIMENSIONS / queries)
  return fill(size, queries, mixture, (into, index) => into.set(at(asked, index * step)))
}

function fill(size, queries, vector, query) {
  const make = (length, write) => {
    const floats = new Float32Array(length * DIMENSIONS)
    for (let i = 0; i < length; i++) write(floats.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS), i)
    return floats
  }
  return { vectors: make(size, vector), queries: make(queries, query) }
}

const read = new Map()
/** Kept, as freeing it between two sizes would look like memory that the index gives back. */
function readFloats(file) {
  const bytes = read.get(file) ?? readFileSync(file)
  read.set(file, bytes)
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
}
