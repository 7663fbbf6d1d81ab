// Measures searches per second of the real server, in a child process, with the built-in model.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBuiltInEmbedder, embeddingTextsOf } from '../../packages/search/dist/index.js'
import { ROOT } from '../../scripts/tree.mjs'
import { importAgents } from '../registry/import-agents.mjs'
import { residentMiB, settle, startDirectory, startWorker } from '../registry/processes.mjs'
import { Database } from '../registry/server-modules.mjs'
import { watchHealth } from './watch-health.mjs'

const AT_ONCE = 16
const SECONDS = 2
/** Requests that are sent once: these by many connections at once, the others by a single one. */
const NEW_AT_ONCE = 600
export const HTTP_REQUESTS = 900
/** Different requests that are sent again and again. */
const REPEATED = 20
/** The benchmark is a single caller, so rate limits must not apply. */
const LIMITS = { search: 1e9, register: 1e9, lookup: 1e9, invoke: 1e9 }

export async function measureHttp({ load, requests, agents, rounds, say }) {
  const parent = join(ROOT, '.cache/bench-search')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'run-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')
  const configFile = (name, embedder) => {
    const file = join(folder, `${name}.json`)
    writeFileSync(
      file,
      JSON.stringify({ publicUrl: 'http://directory.example', rateLimits: LIMITS, search: { embedder } }),
    )
    return file
  }

  // Import without a model: embedding all agents would take minutes, and their vectors are known.
  const filling = await startDirectory({ data, config: configFile('filling', 'none') })
  const documents = load.documents.slice(0, agents)
  await importAgents(filling.port, documents)
  await filling.stop()
  await putVectors(join(data, 'switchboard.db'), load)

  const directory = await startDirectory({ data, config: configFile('measured', 'builtin') })
  await untilReady(directory)
  await settle(directory)
  say(`\nPOST /agents/search over HTTP, ${documents.length} agents`)
  const worker = startWorker('load.mjs')
  const bodies = requests.map(({ query }) => ({ query: query.text, top: 10 }))
  const sets = {
    new: bodies.slice(0, NEW_AT_ONCE),
    alone: bodies.slice(NEW_AT_ONCE),
    repeated: bodies.slice(NEW_AT_ONCE, NEW_AT_ONCE + REPEATED),
  }
  for (const [name, some] of Object.entries(sets)) {
    const file = join(folder, `${name}.json`)
    writeFileSync(file, JSON.stringify({ post: '/agents/search', bodies: some }))
    await worker.ask({ add: name, file })
  }
  const ask = async (set, run) => {
    const result = await worker.ask({ set, port: directory.port, pid: directory.pid, ...run })
    if (result.failed > 0)
      throw new Error(`${result.failed} requests failed, for example with status ${result.failure}`)
    return result
  }

  const stopWatching = watchHealth(directory.port)
  const all = await ask('new', { connections: AT_ONCE, count: sets.new.length })
  const health = await stopWatching()
  const alone = await ask('alone', { connections: 1, count: sets.alone.length })
  const again = []
  for (let round = 0; round < rounds; round++)
    again.push(await ask('repeated', { connections: AT_ONCE, seconds: SECONDS }))
  const report = {
    agents: documents.length,
    new: all,
    newAlone: alone,
    repeated: again.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(again.length / 2)],
    repeatedAlone: await ask('repeated', { connections: 1, seconds: SECONDS }),
    health,
    memoryMiB: residentMiB(directory.pid),
  }
  worker.stop()
  await directory.stop()

  const line = (name, { perSecond, p50, p99, cpuMicros }) =>
    say(
      `  ${name.padEnd(32)} ${perSecond.toFixed(0).padStart(5)} /s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ` +
        `${(cpuMicros / 1000).toFixed(2)} ms of CPU each`,
    )
  line(`new queries, ${AT_ONCE} connections`, report.new)
  line('new queries, one connection', report.newAlone)
  line(`repeated queries, ${AT_ONCE} connections`, report.repeated)
  line('repeated queries, one connection', report.repeatedAlone)
  say(`  /health/live beside new queries    p50 ${health.p50.toFixed(1)} ms, p99 ${health.p99.toFixed(1)} ms`)
  say(`  memory ${report.memoryMiB.toFixed(0)} MiB`)
  return report
}

/** Stores the vectors as the directory does; if model or digest differ, it would embed the agents again. */
async function putVectors(file, { records, packedAt }) {
  const { id: model, close } = await createBuiltInEmbedder()
  await close()
  const db = new Database(file)
  const numbers = new Map(
    db
      .prepare('SELECT id, number FROM agents')
      .all()
      .map(({ id, number }) => [id, number]),
  )
  const insert = db.prepare('INSERT OR REPLACE INTO vectors (number, model, digest, data) VALUES (?, ?, ?, ?)')
  const insertAll = db.transaction(() => {
    for (const [position, record] of records.entries()) {
      const number = numbers.get(record.id)
      if (number === undefined) continue
      const hash = createHash('sha1')
      for (const { text } of embeddingTextsOf(record)) hash.update(text).update('\0')
      insert.run(number, model, hash.digest('base64url'), Buffer.from(packedAt(position)))
    }
  })
  insertAll()
  db.close()
}

/** Waits until responses no longer warn that some agents are not embedded yet. */
async function untilReady({ port }) {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/agents/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'weather forecast', skip: 0 }),
    })
    const { warnings = [] } = await response.json()
    if (warnings.length === 0) return
    await sleep(1000)
  }
}
