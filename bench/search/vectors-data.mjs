/**
 * Vectors for the benchmark: read from files, or synthetic with a similar distribution (measured on 81,319 descriptions
 * and operations with the built-in model: two random texts have a cosine of 0.2, the ten nearest to a request 0.57 to
 * 0.64).
 */
import { readFileSync } from 'node:fs'
import { seeded } from '../registry/data.mjs'

export const DIMENSIONS = 512
/** With 50, half of the best 100 are random, so recall@100 on synthetic vectors says nothing about real texts. */
const TEXTS_PER_TOPIC = 50

/** Scales to a unit vector, so that dot products are cosines. */
function normalise(vector) {
  let squares = 0
  for (let i = 0; i < DIMENSIONS; i++) squares += vector[i] * vector[i]
  const scale = 1 / Math.sqrt(squares)
  for (let i = 0; i < DIMENSIONS; i++) vector[i] *= scale
}

/** Synthetic vectors: the sum of a common part, a part of the topic and a random part. */
export function synthesize(size, queries) {
  const random = seeded(1)
  // Slices of one long noise array: drawing 512 random numbers for each vector would dominate the run time.
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

/** Vectors from a file; beyond those, mixtures of two. Queries come from another file. */
export function fromFiles(file, queryFile, size, queries) {
  const vectors = readFloats(file)
  const queryVectors = readFloats(queryFile)
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
  const step = Math.floor(queryVectors.length / DIMENSIONS / queries)
  return fill(size, queries, mixture, (into, index) => into.set(at(queryVectors, index * step)))
}

function fill(size, queries, vector, query) {
  const make = (length, write) => {
    const floats = new Float32Array(length * DIMENSIONS)
    for (let i = 0; i < length; i++) write(floats.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS), i)
    return floats
  }
  return { vectors: make(size, vector), queries: make(queries, query) }
}

const files = new Map()
/** Cached: freeing the file between two sizes would distort the memory measurement. */
function readFloats(file) {
  const bytes = files.get(file) ?? readFileSync(file)
  files.set(file, bytes)
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
}
