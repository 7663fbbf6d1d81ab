// Compares a call through the directory with proxies that check nothing; see ../README.md.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { startBare } from '../registry/processes.mjs'
import { figures, toTable } from '../registry/report.mjs'
import { startLoads } from './loads.mjs'
import { measureCalls } from './measure-calls.mjs'
import { measureGarbage } from './measure-garbage.mjs'
import { measureMemory, measureSlowAgent } from './measure-steadiness.mjs'
import { measureStreams } from './measure-streams.mjs'
import { HELP, readOptions } from './options.mjs'
import { profileGateway } from './profile.mjs'
import { callRows, garbageRows, memoryRow, serverTable, slowRows, streamRows } from './report.mjs'
import { startServers } from './servers.mjs'

const say = (line) => process.stderr.write(`${line}\n`)

const NOTES = `Above: medians of the rounds, in ms where nothing else is said; "µs" are CPU time of the process, "MiB" its memory with
all streams open. A call that fails or an event that does not come ends the run.
Below: ratio and spread are of ours to theirs within a round (for times and memory below 1 is better); "by CPU" is the
same ratio by CPU time, which other processes on the machine disturb less.`

async function main(options) {
  const began = performance.now()
  mkdirSync(options.folder, { recursive: true })
  const folder = mkdtempSync(join(options.folder, 'run-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
  if (options.profile) return await profileGateway({ ...options, folder, into: options.profile }, say)

  const slow = await measureSlow({ ...options, folder })
  const garbage = await measureGarbage({ folder }, say)
  const servers = await startServers(folder, say)
  say('warming up…')
  const loads = await startLoads(servers, folder, say)
  const calls = await measureCalls(options, servers, loads, say)
  const streams = await measureStreams(options, servers, loads, say)
  const memory = await measureMemory(options, servers, loads, say)
  loads.stop()
  for (const { stop } of Object.values(servers)) await stop()

  const rows = [
    ...callRows(calls),
    ...streamRows(streams, options.streams),
    ...garbageRows(garbage),
    memoryRow(memory),
    ...slowRows(slow),
  ]
  const environment = {
    node: process.version,
    cpu: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    rounds: options.rounds,
    streams: options.streams,
    seconds: Math.round((performance.now() - began) / 1000),
  }
  const { node, cpu, seconds } = environment
  process.stdout.write(`\n${serverTable(calls, streams)}\n\n${NOTES}\n\n${toTable(rows)}\n\n`)
  process.stdout.write(`${slow.rejected} calls to the slow agent were rejected; node ${node}, ${cpu}, ${seconds} s\n`)
  if (options.json) {
    const results = { ...environment, results: rows.map(figures), calls, streams, garbage, memory, slow }
    writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`)
  }
}

/** Uses a directory with the default limits. */
async function measureSlow(options) {
  const upstream = await startBare('../gateway/upstream.mjs')
  const slow = await measureSlowAgent(options, upstream, say)
  await upstream.stop()
  return slow
}

const options = readOptions()
if (options === undefined) process.stdout.write(HELP)
else {
  await main(options)
  process.exit(0)
}
