/**
 * Compares the vector index with a plain scan of floats in JavaScript: time, recall and memory.
 *
 *   node --expose-gc bench/search/vectors.mjs [--sizes 10000,107000,1000000] [--vectors texts.f32 --queries requests.f32]
 *
 * The files contain 32-bit floats, 512 for each text. Needs a build, and 4 GB of memory for a million vectors.
 */
import { parseArgs } from 'node:util'
import { NumberSet } from '../../packages/search/dist/number-set.js'
import { packVectors } from '../../packages/search/dist/vectors/packed-vectors.js'
import { createVectorIndex } from '../../packages/search/dist/vectors/vector-index.js'
import { DIMENSIONS, fromFiles, synthesize } from './vectors-data.mjs'

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,107000,1000000' },
    vectors: { type: 'string' },
    queries: { type: 'string' },
  },
})
const QUERIES = 100
const LIMIT = 100
/** The load set has 2.24 vectors an agent. */
const VECTORS_PER_AGENT = 2

const vectorAt = (floats, index) => floats.subarray(index * DIMENSIONS, (index + 1) * DIMENSIONS)

/** The best rows by a loop over floats, best first. */
function plainScan(vectors, query, limit) {
  const size = vectors.length / DIMENSIONS
  const scores = new Float32Array(size)
  for (let row = 0, at = 0; row < size; row++) {
    let sum = 0
    for (let i = 0; i < DIMENSIONS; i++, at++) sum += vectors[at] * query[i]
    scores[row] = sum
  }
  const floor = Float32Array.from(scores).sort()[Math.max(0, size - limit)]
  const best = []
  for (let row = 0; row < size; row++) if (scores[row] >= floor) best.push(row)
  return best.sort((a, b) => scores[b] - scores[a] || a - b).slice(0, limit)
}

/** Wall-clock milliseconds of each call, sorted, and mean CPU time, after a warm-up. */
function time(runs, call) {
  for (let i = 0; i < Math.min(20, runs); i++) call(i)
  const before = process.cpuUsage()
  const times = Array.from({ length: runs }, (_, i) => {
    const start = performance.now()
    call(i)
    return performance.now() - start
  })
  const { user, system } = process.cpuUsage(before)
  return { times: times.sort((a, b) => a - b), cpu: (user + system) / 1000 / runs }
}

/** The share of the expected rows that was found. */
const share = (expected, found) => expected.filter((row) => found.includes(row)).length / expected.length
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

/** Ratios compare CPU time: load from other processes slows down long calls more than short ones. */
function report(name, { times, cpu }, plain = cpu) {
  const [p50, p99] = [0.5, 0.99].map((q) => times[Math.min(times.length - 1, Math.floor(times.length * q))])
  const [a, b, c] = [p50, p99, cpu].map((ms) => `${ms.toFixed(3).padStart(8)} ms`)
  const ratio = plain === cpu ? '' : `, plain / this ${(plain / cpu).toFixed(1).padStart(6)}`
  console.log(`  ${name.padEnd(22)} p50 ${a}, p99 ${b}, cpu ${c}${ratio}`)
  return cpu
}

function residentMemory() {
  globalThis.gc?.()
  return process.memoryUsage.rss()
}

function measure(size) {
  const large = size > 500_000
  const real = options.vectors && options.queries
  const { vectors, queries } = real
    ? fromFiles(options.vectors, options.queries, size, QUERIES)
    : synthesize(size, QUERIES)
  const query = (i) => vectorAt(queries, i % QUERIES)
  const agents = Math.ceil(size / VECTORS_PER_AGENT)
  const vectorsOf = (agent) =>
    Array.from({ length: Math.min(VECTORS_PER_AGENT, size - agent * VECTORS_PER_AGENT) }, (_, part) =>
      vectorAt(vectors, agent * VECTORS_PER_AGENT + part),
    )
  console.log(`\n${size} vectors of ${agents} agents, ${real ? 'real texts' : 'synthetic'}; the best ${LIMIT}`)

  const before = residentMemory()
  const start = performance.now()
  const index = createVectorIndex(DIMENSIONS)
  for (let agent = 0; agent < agents; agent++) index.put(agent, vectorsOf(agent))
  const filled = performance.now() - start
  const memory = (residentMemory() - before) / size
  console.log(`  filled at ${((filled * 1000) / size).toFixed(1)} µs and ${memory.toFixed(0)} bytes per vector`)

  const numbers = Array.from({ length: agents }, (_, number) => number)
  const all = new NumberSet(numbers)
  const plain = report(
    'plain floats',
    time(large ? 3 : 10, (i) => plainScan(vectors, query(i), LIMIT)),
  )
  const few = Array.from({ length: 200 }, (_, i) => (i * 7919) % agents)
  const searches = {
    'no filter': undefined,
    'filter, none pass': { accepted: new NumberSet() },
    'filter, 1 % pass': { accepted: new NumberSet(numbers.filter((number) => number % 100 === 0)) },
    'filter, all pass': { accepted: all },
    'approximate, all pass': { accepted: all, approximate: true },
    '200 candidates': { candidates: few },
  }
  for (const [name, filter] of Object.entries(searches)) {
    const runs = large && filter?.accepted === all && !filter.approximate ? 10 : QUERIES
    report(
      name,
      time(runs, (i) => index.search(query(i), LIMIT, filter)),
      plain,
    )
  }
  report(
    'put an agent',
    time(500, (i) => index.put((i * 7919) % agents, vectorsOf((i * 7919) % agents))),
  )
  report(
    'remove, put packed',
    time(500, (i) => {
      const agent = (i * 7919) % agents
      const bytes = packVectors(vectorsOf(agent))
      index.remove(agent)
      index.putPacked(agent, bytes)
    }),
  )

  const rowsFound = (...search) => index.search(...search).map(({ number, part }) => number * VECTORS_PER_AGENT + part)
  const recalls = Array.from({ length: large ? 20 : 50 }, (_, i) => {
    const exact = plainScan(vectors, query(i), LIMIT)
    return [
      share(exact.slice(0, 10), rowsFound(query(i), 10)),
      share(exact.slice(0, 10), rowsFound(query(i), LIMIT)),
      share(exact, rowsFound(query(i), LIMIT)),
      share(exact.slice(0, 10), rowsFound(query(i), 10, { accepted: all })),
    ]
  })
  const [ten, tenOfMore, hundred, quantised] = [0, 1, 2, 3].map((k) => mean(recalls.map((r) => r[k])).toFixed(4))
  console.log(`  recall@10: ${ten} with limit 10, ${tenOfMore} with limit ${LIMIT}, ${quantised} in exact mode`)
  console.log(`  recall@${LIMIT}: ${hundred}`)
}

for (const size of options.sizes.split(',')) measure(Number(size))
