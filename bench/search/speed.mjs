// Measures the speed of search: through packages/search with 10k, 48k and 1M agents, compared with MiniSearch and Orama,
// and over HTTP.
// node --expose-gc --max-old-space-size=8000 bench/search/speed.mjs --data ../shared/retrieval [--quick] [--sizes a,b]
//   [--rounds N] [--http N] [--cache FOLDER] [--json FILE]
// The first run embeds the load set, which takes minutes; later runs read its vectors from the cache.
import { writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createBuiltInEmbedder, readQuery } from '../../packages/search/dist/index.js'
import { textFieldsOf } from '../../packages/search/dist/words/text-fields.js'
import { createWordIndex } from '../../packages/search/dist/words/word-index.js'
import { interleave, median, ratios } from '../registry/statistics.mjs'
import { miniSearch, orama } from './engines.mjs'
import { createOurs } from './ours.mjs'
import { readLoad, readRequests } from './speed-data.mjs'
import { HTTP_REQUESTS, measureHttp } from './speed-http.mjs'
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
/** Requests in a round; slow engines process as many as they can in `ROUND_MS`. */
const ROUND_REQUESTS = 60
const ROUND_MS = 4000
/** Time limit for inserting into Orama, which is slow with vectors. */
const MAX_INSERT_MS = 180_000
/** Agents added one by one. */
const ADDED = 300
/** Requests for measuring recall; an exact search of a million vectors is slow. */
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
  say(`\n${size} agents${isReal ? '' : ', synthetic beyond the load set'}`)
  const report = { size }
  results[size] = report
  await build(ours, size, report)
  const rivals = isReal ? await buildRivals(size) : {}
  await compare(ours, rivals, report)
  await add(ours, size, report)
  if (!isReal) await recall(ours, report)
}
if (httpAgents > 0) {
  const requests = await readRequests(options, HTTP_REQUESTS)
  results.http = await measureHttp({ load, requests, agents: httpAgents, rounds, say })
}
await embedder.close()
if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`)

/** Indexes words and filters, then vectors; reports time and memory. */
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
  const kept = dictionary === undefined ? '' : ` (plus ${Math.round(dictionary / size)} for the dictionary)`
  say(`  indexed words in ${puts.seconds.toFixed(1)} s, vectors in ${report.vectorSeconds.toFixed(1)} s`)
  say(`  bytes per agent: words ${Math.round(words / size)}${kept}, vectors ${Math.round(vectorBytes / size)}`)
}

/** Heap memory of the term dictionary, which is not in typed arrays. */
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
    'Orama full text': () => orama(records, vectors, { maxMs: MAX_INSERT_MS }),
    'Orama hybrid': () => orama(records, vectors, { hybrid: true, maxMs: MAX_INSERT_MS }),
  }
  const built = {}
  for (const [name, create] of Object.entries(rivals)) {
    const { value, seconds } = await timed(create)
    built[name] = value
    const part =
      value.count === undefined || value.count === size ? '' : `, only ${value.count} agents within the time limit`
    say(`  ${name} built in ${seconds.toFixed(1)} s${part}`)
  }
  return built
}

/** All engines process the same requests, interleaved. The others get the vectors, so they compare to ours with cached ones. */
async function compare(ours, rivals, report) {
  const inRound = (round) => requests.slice(round * ROUND_REQUESTS, (round + 1) * ROUND_REQUESTS)
  const task = (call) => (round) => timeEach(inRound(round), ROUND_MS, call)
  const cached = ({ query, queryVectors }) => ours.search({ query: readQuery(query.text), queryVectors })
  const whole = async ({ query: { text } }) => {
    const query = readQuery(text)
    return ours.search({ query, queryVectors: query.semanticWeight > 0 ? await embedder.embed(query.texts) : [] })
  }
  for (const request of inRound(0)) await cached(request) // warm-up
  const tasks = { 'embedding cached': task(cached), 'embedding included': task(whole) }
  for (const [name, search] of Object.entries(rivals)) tasks[name] = task(search)
  const measured = await interleave(rounds, tasks)
  const medians = (name) => measured[name].map(({ times }) => percentile(times, 0.5))
  const cpus = (name) => measured[name].map(({ cpu }) => cpu)
  const against = 'embedding cached'
  report.search = {}
  for (const [name, byRound] of Object.entries(measured)) {
    const all = byRound.flatMap(({ times }) => times)
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

/** Recall@10 of the approximate search, by embeddings only and in the final ranking. */
async function recall(ours, report) {
  const noWords = { terms: [], bigrams: [] }
  const sample = requests.filter(({ query }) => query.semanticWeight > 0).slice(0, RECALL_REQUESTS)
  const share = async (request) => {
    const exact = await ours.search({ ...request, isExact: true })
    const found = new Set(await ours.search(request))
    return exact.length === 0 ? 1 : exact.filter((number) => found.has(number)).length / exact.length
  }
  const meanShare = async (change) => {
    let sum = 0
    for (const request of sample) sum += await share({ ...request, query: change(request.query) })
    return sum / sample.length
  }
  report.recall = {
    embeddings: await meanShare((query) => ({ ...query, words: noWords })),
    ranking: await meanShare((query) => query),
  }
  const { embeddings, ranking } = report.recall
  say(
    `  recall@10 of the approximate search: ${embeddings.toFixed(3)} by embeddings only, ${ranking.toFixed(3)} in the ranking`,
  )
}
