// How fast search is: the whole of it through packages/search at 10k, 48k and 1M agents, beside MiniSearch and Orama,
// and over HTTP.
// node --expose-gc --max-old-space-size=8000 bench/search/speed.mjs --data ../shared/retrieval [--quick] [--sizes a,b]
//   [--rounds N] [--http N] [--cache FOLDER] [--json FILE]
// The first run embeds the load set, which takes minutes; later ones read its vectors from the cache.
import { writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createBuiltInEmbedder, readQuery } from '../../packages/search/dist/index.js'
import { textFieldsOf } from '../../packages/search/dist/words/text-fields.js'
import { createWordIndex } from '../../packages/search/dist/words/word-index.js'
import { median, ratios, takeTurns } from '../registry/statistics.mjs'
import { miniSearch, orama } from './engines.mjs'
import { createOurs } from './ours.mjs'
import { readLoad, readRequests } from './speed-data.mjs'
import { measureHttp } from './speed-http.mjs'
import { percentile, spreadOf, timed, timeEach } from './timing.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    cache: { type: 'string', default: join(tmpdir(), 'switchboard-bench-vectors') },
    sizes: { type: 'string' },
    rounds: { type: 'string' },
    http: { type: 'string' },
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const sizes = (options.sizes ?? (options.quick ? '10000' : '10000,48039,1000000')).split(',').map(Number)
const rounds = Number(options.rounds ?? (options.quick ? 3 : 5))
const httpAgents = Number(options.http ?? (options.quick ? 8000 : 48_039))
/** Requests of a round; slow engines answer as many as they can in the time of one. */
const ROUND_REQUESTS = 60
const ROUND_MS = 4000
/** Orama takes long to put vectors in; what is not in by then stays out. */
const MOST_INSERT_MS = 180_000
/** Agents that are added one by one. */
const ADDED = 300
/** Requests that recall is measured with: an exact search of a million vectors takes its time. */
const RECALL_REQUESTS = 30

const say = (line) => console.log(line)
const results = {}
const load = await readLoad(options)
const requests = await readRequests(options, ROUND_REQUESTS * rounds)
const embedder = await createBuiltInEmbedder()
say(`node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, load ${loadavg()[0].toFixed(1)}`)

for (const size of sizes) {
  const ours = createOurs()
  const isReal = size <= load.records.length
  say(`\n${size} agents${isReal ? '' : ', those beyond the load set made up'}`)
  const report = { size }
  results[size] = report
  await build(ours, size, report)
  const rivals = isReal ? await buildRivals(size) : {}
  await compare(ours, rivals, report)
  await add(ours, size, report)
  if (!isReal) recall(ours, report)
}
if (httpAgents > 0) results.http = await measureHttp({ load, requests, agents: httpAgents, rounds, say })
await embedder.close()
if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`)

/** Words and filters, then vectors; what they take of time and memory. */
async function build(ours, size, report) {
  const puts = await timed(() => {
    for (let i = 0; i < size; i++) ours.put(i, load.recordAt(i))
  })
  let packing = 0
  const vectors = await timed(() => {
    for (let i = 0; i < size; i++) {
      const start = performance.now()
      const packed = load.packedAt(i)
      packing += performance.now() - start
      ours.putVectors(i, packed)
    }
  })
  const { words, vectors: vectorBytes } = ours.bytes
  const dictionary = size <= load.records.length ? dictionaryBytes(size) : undefined
  Object.assign(report, {
    buildSeconds: puts.seconds,
    vectorSeconds: vectors.seconds - packing / 1000,
    wordBytes: words / size,
    dictionaryBytes: dictionary === undefined ? undefined : dictionary / size,
    vectorBytes: vectorBytes / size,
  })
  const kept = dictionary === undefined ? '' : ` (and ${Math.round(dictionary / size)} of dictionary)`
  say(`  built in ${puts.seconds.toFixed(1)} s, vectors put in ${report.vectorSeconds.toFixed(1)} s`)
  say(`  bytes an agent: words ${Math.round(words / size)}${kept}, vectors ${Math.round(vectorBytes / size)}`)
}

/** What the terms themselves take, which are no typed arrays. */
function dictionaryBytes(size) {
  const heap = () => {
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  }
  const before = heap()
  const index = createWordIndex()
  for (let i = 0; i < size; i++) index.put(i, textFieldsOf(load.records[i]))
  const after = heap()
  return index.size === size ? after - before : Number.NaN
}

async function buildRivals(size) {
  const records = load.records.slice(0, size)
  const vectors = { dimensions: 512, whole: (position) => load.vectorsAt(position)[0] }
  const rivals = {
    MiniSearch: () => miniSearch(records),
    'Orama full text': () => orama(records, vectors, { mostMs: MOST_INSERT_MS }),
    'Orama hybrid': () => orama(records, vectors, { hybrid: true, mostMs: MOST_INSERT_MS }),
  }
  const built = {}
  for (const [name, create] of Object.entries(rivals)) {
    const { value, seconds } = await timed(create)
    built[name] = value
    const part = value.count === undefined || value.count === size ? '' : `, only ${value.count} agents in that time`
    say(`  ${name} built in ${seconds.toFixed(1)} s${part}`)
  }
  return built
}

/** Everybody answers the same requests, in turns. Rivals are given the vectors, so ours is compared with those cached. */
async function compare(ours, rivals, report) {
  const inRound = (round) => requests.slice(round * ROUND_REQUESTS, (round + 1) * ROUND_REQUESTS)
  const task = (call) => (round) => timeEach(inRound(round), ROUND_MS, call)
  const cached = ({ query, queryVectors }) => ours.search({ query: readQuery(query.text), queryVectors })
  const whole = async ({ query: { text } }) => {
    const query = readQuery(text)
    return ours.search({ query, queryVectors: query.semanticWeight > 0 ? await embedder.embed(query.texts) : [] })
  }
  for (const request of inRound(0)) cached(request) // so that the engine compiles before
  const tasks = { 'embedding cached': task(cached), 'embedding included': task(whole) }
  for (const [name, search] of Object.entries(rivals)) tasks[name] = task(search)
  const measured = await takeTurns(rounds, tasks)
  const medians = (name) => measured[name].map(({ times }) => percentile(times, 0.5))
  const cpus = (name) => measured[name].map(({ cpu }) => cpu)
  const against = 'embedding cached'
  report.search = {}
  for (const [name, ofRounds] of Object.entries(measured)) {
    const all = ofRounds.flatMap(({ times }) => times)
    const result = { p50: percentile(all, 0.5), p99: percentile(all, 0.99), cpu: median(cpus(name)), count: all.length }
    if (rivals[name]) {
      result.ratio = median(ratios(medians(name), medians(against)))
      result.cpuRatio = median(ratios(cpus(name), cpus(against)))
    }
    report.search[name] = result
    const { ratio, cpuRatio, count } = result
    const note = ratio ? `   ${ratio.toFixed(1)} × ours, ${cpuRatio.toFixed(1)} × by CPU (${count} requests)` : ''
    say(`  ${name.padEnd(20)} ${spreadOf(all, result.cpu)}${note}`)
  }
}

async function add(ours, size, report) {
  const numbers = Array.from({ length: ADDED }, (_, i) => size + i)
  const prepared = numbers.map((number) => ({
    number,
    record: { ...load.records[(number * 7919) % load.records.length], id: `added/${number}` },
    packed: load.packedAt((number * 7919) % load.records.length),
  }))
  const put = ({ number, record, packed }) => {
    ours.put(number, record)
    ours.putVectors(number, packed)
  }
  const { times, cpu } = await timeEach(prepared, Number.POSITIVE_INFINITY, put)
  report.add = { p50: percentile(times, 0.5), p99: percentile(times, 0.99), cpu }
  say(`  ${'add one agent'.padEnd(20)} ${spreadOf(times, cpu)}`)
  for (const { record } of prepared) ours.remove(record.id)
}

/** How much of the exact best ten the approximate search finds: by meaning alone, and of what is answered. */
function recall(ours, report) {
  const noWords = { terms: [], bigrams: [] }
  const asked = requests.filter(({ query }) => query.semanticWeight > 0).slice(0, RECALL_REQUESTS)
  const shares = (change) =>
    asked.map((request) => {
      const query = change(request.query)
      const exact = ours.search({ ...request, query, isExact: true })
      const found = new Set(ours.search({ ...request, query }))
      return exact.length === 0 ? 1 : exact.filter((number) => found.has(number)).length / exact.length
    })
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
  report.recall = {
    meaning: mean(shares((query) => ({ ...query, words: noWords }))),
    answer: mean(shares((query) => query)),
  }
  const { meaning, answer } = report.recall
  say(`  of the exact best 10 found: ${meaning.toFixed(3)} by meaning alone, ${answer.toFixed(3)} of what is answered`)
}
