// Compares the directory with bare alternatives; see ../README.md.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { kilobyteDocuments, lookups, readAgents, shuffle, spread } from './data.mjs'
import { importAgents } from './import-agents.mjs'
import { HELP, readOptions } from './options.mjs'
import { ADMIN_KEY, cpuSeconds, residentMiB, settle, startBare, startDirectory, startWorker } from './processes.mjs'
import { profileDirectory } from './profile.mjs'
import { figures, speedRow, toTable } from './report.mjs'
import { interleave, median, ratios } from './statistics.mjs'

/** Number of agents to read: enough that they do not fit the CPU caches. */
const READ_AGENTS = 20_000
const AT_ONCE = 64
const START_AIM_MS = 3000
/** The benchmark is a single caller, so rate limits must not apply. */
const CONFIG = {
  publicUrl: 'http://directory.example',
  rateLimits: { search: 1e9, register: 1e9, lookup: 1e9, invoke: 1e9 },
}

const say = (line) => process.stderr.write(`${line}\n`)

async function main(options) {
  const began = performance.now()
  mkdirSync(options.folder, { recursive: true })
  const folder = mkdtempSync(join(options.folder, 'run-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

  const bench = await prepare({ ...options, folder })
  if (options.profile) return await profileDirectory({ ...bench, folder: options.profile, seconds: 5 })
  const rows = [
    bench.imported,
    ...(options.only.includes('starts') ? await measureStarts(options, bench) : []),
    ...(options.only.includes('reads') ? await measureReads(options, bench) : []),
    ...(options.only.includes('writes') ? await measureWrites({ ...options, folder }, bench) : []),
  ]
  bench.load.stop()
  const environment = {
    node: process.version,
    cpu: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    othersCores: others.length > 0 ? Number(median(others).toFixed(2)) : undefined,
    agents: bench.documents.length,
    data: bench.source,
    rounds: options.rounds,
    seconds: Math.round((performance.now() - began) / 1000),
  }
  const { node, cpu, othersCores, agents, data, seconds } = environment
  process.stdout.write(`\n${toTable(rows)}\n\n${NOTES}\n`)
  process.stdout.write(`${agents} agents (${data}), node ${node}, ${cpu}, ${seconds} s\n`)
  if (othersCores !== undefined) process.stdout.write(`other processes used ${othersCores} cores (median)\n`)
  if (options.json) {
    writeFileSync(options.json, `${JSON.stringify({ ...environment, results: rows.map(figures) }, null, 2)}\n`)
  }
}

/** Cores used by other processes during each measurement. */
const others = []

const NOTES = `Medians of the rounds. Ratio and spread compare ours to theirs within a round (for start and memory, below 1 is better).
"by CPU" is the same ratio in CPU time, which is less affected by other processes on the machine.`

/** Fills a directory by bulk import, collects its responses, and prepares the load generator. */
async function prepare(options) {
  const { folder } = options
  const { source, documents } = readAgents(options.data, options.agents)
  const config = join(folder, 'config.json')
  const data = join(folder, 'data')
  writeFileSync(config, JSON.stringify(CONFIG))

  const ids = shuffle(spread(documents, READ_AGENTS)).map(({ id }) => id)
  const queries = lookups(documents)
  const small = kilobyteDocuments(documents)
  if ([small, ...Object.values(queries)].some(({ length }) => length === 0)) {
    throw new Error('too few agents, or too similar ones, to build lookups: use a larger --data or --agents')
  }
  const load = startWorker('load.mjs')
  const addSet = async (name, set) => {
    const file = join(folder, `${name}.json`)
    writeFileSync(file, JSON.stringify(set))
    await load.ask({ add: name, file })
    return file
  }
  const read = ids.map((id) => `/agents/${encodeURIComponent(id)}`)
  await addSet('read', { paths: read })
  await addSet('first-read', { paths: read })
  await addSet('first-read-bare', { paths: read })
  await addSet('read-schema', { paths: read.map((path) => path.replace('/agents/', '/with-schema/')) })
  for (const [name, paths] of Object.entries(queries)) await addSet(`lookup-${name}`, { paths: shuffle(paths) })
  const headers = { authorization: `Bearer ${ADMIN_KEY}` }
  const registrations = await addSet('register', { post: '/agents', documents: small, headers })

  say(`importing ${documents.length} agents…`)
  const directory = await startDirectory({ data, config })
  const speed = await importAgents(directory.port, documents)
  const imported = { what: 'bulk import', unit: 'agents/s', ours: [speed] }
  say('collecting responses…')
  const collect = async (set, count) => {
    const file = join(folder, 'answers')
    await ask(load, directory, { set, count, connections: AT_ONCE, collect: file })
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => JSON.parse(line))
  }
  const answers = { agents: {}, lookups: {} }
  for (const [i, answer] of (await collect('read', ids.length)).entries()) answers.agents[ids[i]] = answer
  for (const name of Object.keys(queries)) {
    const paths = shuffle(queries[name])
    const found = await collect(`lookup-${name}`, paths.length)
    for (const [i, answer] of found.entries()) answers.lookups[paths[i]] = answer
    const sizes = found.map(({ agents }) => agents.length)
    say(`lookups (${name}): ${paths.length}, finding ${Math.min(...sizes)} to ${Math.max(...sizes)}`)
  }
  const bareFile = join(folder, 'bare.json')
  writeFileSync(bareFile, JSON.stringify(answers))
  await directory.stop()
  return { source, documents, config, data, load, ids, bareFile, registrations, imported }
}

/** Runs a prepared set of requests against a server; throws if any response is an error. */
async function ask(load, { port, pid }, run) {
  const result = await load.ask({ ...run, port, pid })
  if (result.failed > 0)
    throw new Error(`${run.set}: ${result.failed} requests failed, for example with status ${result.failure}`)
  if (result.loadCpu > 0.95)
    say(
      `${run.set}: the load generator used ${(result.loadCpu * 100).toFixed(0)} % of a core and may be the bottleneck`,
    )
  if (result.others !== undefined) others.push(result.others)
  return result
}

/** Time from spawn to the ready line with all agents in the store, and memory afterwards. */
async function measureStarts({ starts }, { data, config, documents }) {
  say('starting…')
  const measure = (start) => async () => {
    const server = await start()
    const result = { ms: server.startMs, cpu: cpuSeconds(server.pid) }
    await server.stop()
    return result
  }
  const remember = async (start) => {
    const server = await start()
    await settle(server)
    const memory = residentMiB(server.pid)
    await server.stop()
    return memory
  }
  const startOurs = () => startDirectory({ data, config })
  const startBareOne = () => startBare('bare-start.mjs', join(data, 'switchboard.db'))
  const { ours, bare } = await interleave(starts, {
    ours: measure(startOurs),
    bare: measure(startBareOne),
  })
  const times = ours.map(({ ms }) => ms)
  const against = 'parse documents into a map'
  const memory = {
    what: 'memory then',
    unit: 'MiB',
    ours: [await remember(startOurs)],
    against,
    theirs: [await remember(startBareOne)],
  }
  return [
    {
      what: `start with ${documents.length} agents`,
      unit: 'ms',
      ours: times,
      against,
      theirs: bare.map(({ ms }) => ms),
      ...(ours[0].cpu && { cpuRatio: median(ours.map(({ cpu }, i) => cpu / bare[i].cpu)) }),
      aim: { text: `< ${START_AIM_MS} ms`, met: median(times) < START_AIM_MS },
    },
    memory,
  ]
}

/** Reads and lookups, compared with routes that serialise the same responses. */
async function measureReads({ rounds, seconds }, { data, config, load, bareFile, ids }) {
  say('reading and looking up…')
  const directory = await startDirectory({ data, config })
  const bare = await startBare('bare-fastify.mjs', bareFile)
  await settle(directory)
  const at =
    (server, set, more = { seconds }) =>
    () =>
      ask(load, server, { set, connections: AT_ONCE, ...more })

  // First reads before repeated ones: rendered documents are cached.
  const slice = { count: Math.floor(ids.length / rounds) }
  const first = await interleave(rounds, {
    ours: at(directory, 'first-read', slice),
    bare: at(bare, 'first-read-bare', slice),
  })
  const read = await interleave(rounds, {
    ours: at(directory, 'read'),
    bare: at(bare, 'read'),
    schema: at(bare, 'read-schema'),
  })
  const rows = []
  const names = { few: '1 to 5 found', some: 'pages of 10', many: 'pages of 100' }
  for (const [name, text] of Object.entries(names)) {
    const set = `lookup-${name}`
    const found = await interleave(rounds, { ours: at(directory, set), bare: at(bare, set) })
    rows.push(speedRow(`lookup by two filters, ${text}`, '/s', found.ours, 'bare Fastify route', found.bare, 0.6))
  }
  const memory = residentMiB(directory.pid)
  await directory.stop()
  await bare.stop()
  return [
    { what: `memory after reading ${ids.length} agents`, unit: 'MiB', ours: [memory] },
    speedRow('GET /agents/{id}', '/s', read.ours, 'bare Fastify route', read.bare, 0.6),
    speedRow('', '', read.ours, 'the same with a response schema', read.schema, 0.6),
    speedRow('GET /agents/{id} for the first time', '/s', first.ours, 'bare Fastify route', first.bare, 0.6),
    ...rows,
  ]
}

/** Registrations, compared with the disk alone and HTTP alone. */
async function measureWrites({ folder, rounds, seconds }, { data, config, load, bareFile, registrations }) {
  say('registering…')
  const directory = await startDirectory({ data, config })
  const bare = await startBare('bare-fastify.mjs', bareFile)
  await settle(directory)
  const sqlite = startWorker('bare-sqlite.mjs', join(folder, 'bare.db'), registrations)
  const at = (server, connections) => () => ask(load, server, { set: 'register', connections, seconds })
  const { one, bareOne, many, bareMany, disk } = await interleave(rounds, {
    one: at(directory, 1),
    many: at(directory, AT_ONCE),
    disk: () => sqlite.ask({ seconds }),
    bareOne: at(bare, 1),
    bareMany: at(bare, AT_ONCE),
  })
  sqlite.stop()
  await directory.stop()
  await bare.stop()
  const speeds = (runs) => runs.map(({ perSecond }) => perSecond)
  const [diskSpeeds, bareSpeeds] = [speeds(disk), speeds(bareMany)]
  const target = diskSpeeds.map((speed, i) => Math.min(10 * speed, bareSpeeds[i] / 2))
  const aim = { text: '≥ 1.00', met: median(ratios(speeds(many), target)) >= 1 }
  const [durable, http] = ['SQLite, sequential', 'bare Fastify POST']
  return [
    speedRow('registrations, 1 connection', '/s', one, durable, disk),
    speedRow('', '', one, http, bareOne),
    speedRow(`registrations, ${AT_ONCE} connections`, '/s', many, durable, disk),
    speedRow('', '', many, http, bareMany),
    { what: '', unit: '', ours: speeds(many), against: 'min(10 × SQLite, ½ Fastify)', theirs: target, aim },
  ]
}

const options = readOptions()
if (!options) process.stdout.write(HELP)
else await main(options)
