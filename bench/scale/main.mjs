// Measures a directory with 48,039 real agents, and with more that are mixtures of them: import, start, memory, searches,
// reads, lookups and calls; see ../README.md.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../../scripts/tree.mjs'
import { readAgents } from '../registry/data.mjs'
import { measureSize } from './measure-size.mjs'

const HELP = `bench/scale: measures a directory as it grows

  --data FOLDER    data sets: agents in load/agents.jsonl, and queries (../shared/retrieval)
  --sizes N,N      numbers of agents (48039,250000,1000000)
  --seconds N      length of one measurement (3)
  --folder FOLDER  folder for databases, on the disk to measure (.cache/bench-scale)
  --json FILE      also write the results to this file
  --quick          half a minute: 4,000 agents
`

const text = /** @type {const} */ ({ type: 'string' })
const flag = /** @type {const} */ ({ type: 'boolean' })
const { values } = parseArgs({
  options: { data: text, sizes: text, seconds: text, folder: text, json: text, quick: flag, help: flag },
})

const COLUMNS = [
  ['import, agents/s', ({ importSpeed }) => importSpeed.toFixed(0)],
  ['memory after import, MiB', ({ memory }) => memory.imported.toFixed(0)],
  ['start until ready, s', ({ start }) => (start.readyMs / 1000).toFixed(1)],
  ['start until all is indexed, s', ({ start }) => (start.indexedMs / 1000).toFixed(1)],
  ['memory after start, MiB', ({ memory }) => memory.started.toFixed(0)],
  ['memory after the searches, MiB', ({ memory }) => memory.searched.toFixed(0)],
  ['the same for each agent, KB', ({ size, memory }) => ((memory.searched * 1024) / size).toFixed(1)],
  ['database, MiB', ({ databaseMiB }) => databaseMiB.toFixed(0)],
  ['search, new query, p50 / p99, ms', ({ alone }) => latency(alone)],
  ['searches/s, 16 clients', ({ atOnce }) => atOnce.perSecond.toFixed(0)],
  ['/health/live meanwhile, p50 / p99, ms', ({ health }) => latency(health)],
  [
    'event loop delay meanwhile, p99 / longest, ms',
    ({ loop }) => `${loop.p99.toFixed(0)} / ${loop.longest.toFixed(0)}`,
  ],
  ['search, repeated query, p50 / p99, ms', ({ repeated }) => latency(repeated)],
  ['GET by id, 16 clients, /s', ({ reads }) => reads.perSecond.toFixed(0)],
  ['lookup with two filters, p50 / p99, ms', ({ lookups }) => latency(lookups)],
  ['call, p50 / p99, ms', ({ calls }) => latency(calls)],
  [
    'CPU of a new search / read / lookup / call, ms',
    ({ atOnce, reads, lookups, calls }) =>
      [atOnce, reads, lookups, calls].map(({ cpuMicros }) => (cpuMicros / 1000).toFixed(2)).join(' / '),
  ],
  ['cores used by other programs', ({ alone }) => alone.others.toFixed(1)],
]

const latency = ({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`

if (values.help) process.stdout.write(HELP)
else await main()

async function main() {
  const data = values.data ?? join(ROOT, '../shared/retrieval')
  const sizes = (values.sizes ?? (values.quick ? '4000' : '48039,250000,1000000')).split(',').map(Number)
  const parent = values.folder ?? join(ROOT, '.cache/bench-scale')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'run-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

  const { documents } = readAgents(join(data, 'load', 'agents.jsonl'))
  const results = []
  for (const size of sizes) {
    if (!(size > 0)) throw new Error(`--sizes must be numbers of agents, not "${values.sizes}"`)
    const own = join(folder, String(size))
    mkdirSync(own)
    const seconds = Number(values.seconds ?? 3)
    results.push(await measureSize({ size, documents, data, folder: own, seconds }))
    rmSync(own, { recursive: true })
    process.stdout.write(`\n${toTable(results)}\n`)
  }
  process.stdout.write(
    `\nnode ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, with the static embedding only\n`,
  )
  if (values.json) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`)
}

/** One row for each measurement, one column for each size. */
function toTable(results) {
  const rows = [
    ['agents', ...results.map(({ size }) => size.toLocaleString('en'))],
    ...COLUMNS.map(([title, read]) => [title, ...results.map(read)]),
  ]
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  '))
    .join('\n')
}
