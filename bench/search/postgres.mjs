// Compares the engine in PostgreSQL with the one in memory: quality on the tuning sets, then latency, CPU time and how many
// of the first results are the same, among the agents of the load set and more.
// node bench/search/postgres.mjs --data ../shared/retrieval [--sets a,b] [--queries N] [--sizes a,b] [--quick]
//   [--embedder static] [--distractors] [--cache FOLDER]
// --distractors adds the records of load/ to the tuning sets. With `--embedder static` nothing is embedded by the model, which takes half an hour the first time.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { builtInStaticEncoder, createDatabaseEngine, packVectors, readQuery } from '../../packages/search/dist/index.js'
import { openTextTables } from '../../packages/server/dist/store/postgres/text-tables.js'
import { startCluster } from './cluster.mjs'
import { embedAll } from './embeddings.mjs'
import { measure } from './measures.mjs'
import { createOurs } from './ours.mjs'
import { embedRecords } from './part-vectors.mjs'
import { readDistractors, readSet, SETS } from './sets.mjs'
import { readLoad, readRequests } from './speed-data.mjs'
import { percentile, timed } from './timing.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    cache: { type: 'string', default: join(tmpdir(), 'switchboard-bench-vectors') },
    sets: { type: 'string', default: SETS.join(',') },
    queries: { type: 'string' },
    sizes: { type: 'string' },
    embedder: { type: 'string', default: 'builtin' },
    distractors: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
})
const maxQueries = Number(options.queries ?? (options.quick ? 100 : 100_000))
const sizes = (options.sizes ?? (options.quick ? '5000' : '48039,250000')).split(',').map(Number).filter(Boolean)
const isModelled = options.embedder !== 'static'
/** Requests in each round; the engines take turns. */
const ROUND_REQUESTS = 60
const ROUNDS = options.quick ? 2 : 5
/** Agents that are put before the database has stored the ones before. */
const PUT_BATCH = 256

const percent = (share) => (100 * share).toFixed(1).padStart(9)
const cluster = await startCluster()
try {
  for (const name of options.sets.split(',').filter(Boolean)) await quality(name)
  const load = sizes.length > 0 ? await readLoad({ ...options, isModelled }) : undefined
  for (const size of sizes) await speed(load, size)
} finally {
  await cluster.stop()
}

/** An engine on tables of its own. */
async function openEngine(name) {
  const url = new URL(cluster.url)
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: cluster.url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  url.pathname = `/${name}`
  const onProblem = (problem) => console.error(problem)
  return createDatabaseEngine(await openTextTables(url.href), { encoder: builtInStaticEncoder(), onProblem })
}

async function fill(ours, engine, count, recordAt, packedAt) {
  for (let at = 0; at < count; at++) {
    ours.put(at, recordAt(at))
    if (packedAt) ours.putVectors(at, packedAt(at))
    if (at % PUT_BATCH === PUT_BATCH - 1) await settle(engine)
  }
  await settle(engine)
}

/** On a busy machine a connection may take too long; the engine tries again. */
async function settle(engine) {
  for (let isSettled = false; !isSettled; )
    isSettled = await (engine?.settled() ?? Promise.resolve()).then(
      () => true,
      (error) => console.error(String(error)),
    )
}

async function quality(name) {
  const set = readSet(options.data, name)
  const step = Math.max(1, Math.ceil(set.queries.length / maxQueries))
  const queries = set.queries.filter((_, i) => i % step === 0)
  const read = queries.map(({ text }) => readQuery(text))
  const embed = (texts) =>
    embedAll(texts, options.cache, (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `))
  const lists = [set.agents, ...(options.distractors ? readDistractors(options.data, name) : [])]
  const records = lists.flat()
  const vectors = isModelled ? await embedRecords(lists, embed) : undefined
  const vectorOf = isModelled ? await embed(read.flatMap((query) => query.texts)) : undefined
  console.log(`\n${name}: ${records.length} agents, ${queries.length} queries`)
  console.log(`${''.padEnd(20)} recall@1  recall@5 recall@10   nDCG@10`)
  const engine = await openEngine(name.replaceAll('-', '_'))
  const engines = { 'in memory': [createOurs()], 'in PostgreSQL': [createOurs({ engine }), engine] }
  await engine.settled() // connected, before the other one blocks the thread while it is filled
  for (const [title, [ours, own]] of Object.entries(engines)) {
    await fill(ours, own, records.length, (at) => records[at], vectors && ((at) => packVectors(vectors.parts(at))))
    const rankings = []
    for (const query of read) {
      const queryVectors = vectorOf ? query.texts.map(vectorOf) : []
      rankings.push(await ours.search({ query, queryVectors }))
    }
    const { recall1, recall5, recall10, ndcg10 } = measure(rankings, queries)
    console.log(title.padEnd(19), ...[recall1, recall5, recall10, ndcg10].map(percent))
  }
  await engine.close()
}

async function speed(load, size) {
  console.log(`\n${size} agents${size > load.records.length ? ', synthetic beyond the load set' : ''}`)
  const requests = await readRequests({ ...options, isModelled }, ROUND_REQUESTS * ROUNDS)
  const engine = await openEngine(`load_${size}`)
  const engines = { 'in memory': [createOurs()], 'in PostgreSQL': [createOurs({ engine }), engine] }
  await engine.settled() // connected, before the other one blocks the thread while it is filled
  const records = Array.from({ length: size }, (_, at) => load.recordAt(at))
  for (const [title, [ours, own]] of Object.entries(engines)) {
    const { seconds } = await timed(() =>
      fill(ours, own, size, (at) => records[at], isModelled ? load.packedAt : undefined),
    )
    console.log(
      `${title}: filled in ${seconds.toFixed(0)} s, ${(ours.bytes.words + ours.bytes.vectors) >> 20} MB in this process`,
    )
  }
  const results = Object.fromEntries(
    Object.keys(engines).map((title) => [title, { times: [], cpu: 0, database: 0, found: [] }]),
  )
  const warmUp = requests.slice(0, ROUND_REQUESTS)
  for (const [ours] of Object.values(engines)) for (const request of warmUp) await searchWith(ours, request)
  for (let round = 0; round < ROUNDS; round++) {
    for (const [title, [ours]] of Object.entries(engines)) {
      const result = results[title]
      const [cpu, database] = [process.cpuUsage(), cluster.cpuMs()]
      for (const request of requests.slice(round * ROUND_REQUESTS, (round + 1) * ROUND_REQUESTS)) {
        const start = performance.now()
        result.found.push(await searchWith(ours, request))
        result.times.push(performance.now() - start)
      }
      const { user, system } = process.cpuUsage(cpu)
      result.cpu += (user + system) / 1000
      result.database += cluster.cpuMs() - database
    }
  }
  console.log(`${''.padEnd(15)}     p50 ms     p99 ms     CPU ms   CPU of the database`)
  for (const [title, { times, cpu, database }] of Object.entries(results)) {
    const columns = [percentile(times, 0.5), percentile(times, 0.99), cpu / times.length, database / times.length]
    console.log(title.padEnd(15), ...columns.map((ms) => ms.toFixed(2).padStart(10)))
  }
  const [memory, database] = Object.values(results).map(({ found }) => found)
  const same = memory.map(
    (page, i) => page.filter((number) => database[i].includes(number)).length / Math.max(1, page.length),
  )
  console.log(
    `the same agents on the first page: ${percent(same.reduce((sum, share) => sum + share, 0) / same.length)} %`,
  )
  await engine.close()
}

function searchWith(ours, { query: { text }, queryVectors }) {
  return ours.search({ query: readQuery(text), queryVectors })
}
