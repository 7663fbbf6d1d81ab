// One directory of a certain size, as a child process.
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CALLS, toDocuments } from '../gateway/agents.mjs'
import { lookups, seeded, shuffle, spread } from '../registry/data.mjs'
import { importAgents } from '../registry/import-agents.mjs'
import { ADMIN_KEY, residentMiB, settle, startBare, startDirectory, startWorker } from '../registry/processes.mjs'
import { readSet, SETS } from '../search/sets.mjs'
import { createAgentMixer } from '../search/synthetic-agents.mjs'
import { watchHealth } from '../search/watch-health.mjs'

/** Rate limits must not apply to the only caller. The model is left out: it would embed a million agents for an hour. */
const CONFIG = {
  publicUrl: 'http://directory.example',
  rateLimits: { search: 1e9, register: 1e9, lookup: 1e9, invoke: 1e9 },
  search: { embedder: 'static' },
}
const AT_ONCE = 16
/** Queries that are sent once, by many clients at once and by one. */
const NEW = { atOnce: 1200, alone: 300 }
/** Different queries that are sent again and again. */
const REPEATED = 20
const READ_AGENTS = 20_000
const IMPORTED_AT_ONCE = 100_000
/** More agents than this need more memory than Node takes by default. */
const DEFAULT_HEAP_AGENTS = 200_000
const LARGE_HEAP = '--max-old-space-size=20000'

const say = (line) => process.stderr.write(`${line}\n`)
const admin = { authorization: `Bearer ${ADMIN_KEY}` }

/**
 * @param {{ size: number, documents: object[], data: string, folder: string, seconds: number }} options
 *   `documents`: real agents, which come first
 */
export async function measureSize({ size, documents, data, folder, seconds }) {
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify(CONFIG))
  const options = { data: join(folder, 'data'), config, nodeFlags: size > DEFAULT_HEAP_AGENTS ? [LARGE_HEAP] : [] }
  const upstream = await startBare('../gateway/upstream.mjs')

  say(`${size} agents: importing…`)
  const filled = await startDirectory(options)
  const importSpeed = await importInParts(filled.port, agentsOf(size, documents), size)
  await importAgents(filled.port, toDocuments(upstream))
  const imported = residentMiB(filled.pid)
  await filled.stop()

  say('starting…')
  const began = performance.now()
  const directory = await startDirectory(options)
  await untilIndexed(directory)
  const start = { readyMs: directory.startMs, indexedMs: performance.now() - began }
  await settle(directory)
  const started = residentMiB(directory.pid)

  const load = startWorker('load.mjs')
  const sets = await requestSets(directory, { size, documents, data })
  for (const [name, set] of Object.entries(sets)) {
    const file = join(folder, `${name}.json`)
    writeFileSync(file, JSON.stringify(set))
    await load.ask({ add: name, file })
  }
  const run = async (set, how) => {
    say(`${set}…`)
    const result = await load.ask({ set, port: directory.port, pid: directory.pid, ...how })
    if (result.failed > 0)
      throw new Error(`${set}: ${result.failed} requests failed, for example with status ${result.failure}`)
    return result
  }
  await loopDelay(directory) // from here on
  const stopWatching = watchHealth(directory.port)
  const atOnce = await run('atOnce', { connections: AT_ONCE, count: NEW.atOnce })
  const report = {
    size,
    importSpeed,
    start,
    databaseMiB: statSync(join(folder, 'data/switchboard.db')).size / 2 ** 20,
    atOnce,
    health: await stopWatching(),
    loop: await loopDelay(directory),
    alone: await run('alone', { connections: 1, count: NEW.alone }),
    repeated: await run('repeated', { connections: 1, seconds }),
    memory: { imported, started, searched: residentMiB(directory.pid) },
    reads: await run('reads', { connections: AT_ONCE, seconds }),
    lookups: await run('lookups', { connections: 1, seconds }),
    calls: await run('calls', { connections: 1, seconds }),
  }
  load.stop()
  await directory.stop()
  await upstream.stop()
  return report
}

/** Several requests: one may take five minutes to arrive. Returns agents per second. */
async function importInParts(port, agents, size) {
  let seconds = 0
  for (let left = size; left > 0; left -= IMPORTED_AT_ONCE) {
    const count = Math.min(left, IMPORTED_AT_ONCE)
    seconds += count / (await importAgents(port, take(agents, count)))
  }
  return size / seconds
}

function* take(agents, count) {
  for (let i = 0; i < count; i++) yield agents.next().value
}

/** The agents of a directory of a certain size, the same in every run. */
function* agentsOf(size, documents) {
  const agentAt = createAgentMixer(documents)
  for (let position = 0; position < size; position++) yield agentAt(position)
}

async function requestSets({ port }, { size, documents, data }) {
  const queries = shuffle(
    SETS.flatMap((name) => readSet(data, name).queries.map(({ text }) => text)),
    seeded(11),
  ).map((query) => ({ query, top: 10 }))
  const searches = (from, count) => ({ post: '/agents/search', bodies: queries.slice(from, from + count) })
  const ids = spread(
    Array.from({ length: size }, (_, at) => documents[at]?.id ?? `synthetic/${at}`),
    READ_AGENTS,
  )
  const response = await fetch(`http://127.0.0.1:${port}/admin/keys`, {
    method: 'POST',
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify({ subject: 'caller', scopes: ['invoke'] }),
  })
  const { key } = await response.json()
  return {
    atOnce: searches(0, NEW.atOnce),
    alone: searches(NEW.atOnce, NEW.alone),
    repeated: searches(NEW.atOnce, REPEATED),
    reads: { paths: shuffle(ids).map((id) => `/agents/${encodeURIComponent(id)}`) },
    lookups: { paths: lookups(documents.slice(0, size)).some },
    calls: { post: '/agents/agent/invoke', bodies: CALLS, headers: { authorization: `Bearer ${key}` } },
  }
}

/** Waits until the words of all agents are indexed. */
async function untilIndexed({ port }) {
  for (;;) {
    const { index } = await (await fetch(`http://127.0.0.1:${port}/health/ready`, { headers: admin })).json()
    if (index.pending === 0) return
    await sleep(100)
  }
}

/** The delay of the event loop since the last call, in milliseconds. */
async function loopDelay({ port }) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: admin })).text()
  const value = (name) => Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)`, 'm').exec(text)?.[1]) * 1000
  return { p99: value('p99'), longest: value('max') }
}
