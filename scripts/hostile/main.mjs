// Attacks a directory with generated requests: npm run test:hostile. See HELP for options and for what makes it fail.
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_KEY, administer, importLines, startAgents, startDirectory } from './directory.mjs'
import { createGenerator, operationsOf } from './generate.mjs'
import { HELP, readOptions } from './options.mjs'
import { startProbe } from './probe.mjs'
import { createFailures, createReport, describe, inMib } from './report.mjs'
import { closeConnections, createSend } from './send.mjs'
import { HOSTILE_IDS, worldLines } from './world.mjs'

const HANG_MS = 2000
/** Memory after the run may exceed the baseline by this much: caches have limits, but the baseline did not fill them. */
const MEMORY_TOLERANCE = { share: 0.25, bytes: 48 << 20 }
const AT_ONCE = 8
/** Slow clients at the same time, besides the others. */
const SLOW_AT_ONCE = 24
/** Share of the requests that are sent before the baseline is measured. */
const WARM_UP_SHARE = 0.05
/** Milliseconds until the directory has noticed that its clients are gone. */
const SETTLE_MS = 5000
const PROGRESS_MS = 15_000
const BLOCKS_PRINTED = 10
/** Characters. */
const LOG_PRINTED = 2000

const say = (line) => process.stdout.write(`${line}\n`)

async function main(options) {
  const blocks = []
  const report = createReport()
  const failures = createFailures()
  const { directory, generate, send, probe } = await prepare(options, (block) => blocks.push(block))
  // Loading is not part of the attack.
  blocks.length = 0

  const attack = async (request) => {
    const result = await send(request)
    report.add(request, result)
    if (result.status === 500) failures.add('status 500', describe(request))
    const { from, to } = result.silence ?? { from: 0, to: 0 }
    const ms = to - from > HANG_MS ? to - from - probe.lost(from, to) : 0
    if (ms > HANG_MS) failures.add(`no byte for more than ${HANG_MS} ms`, `${ms.toFixed(0)} ms ${describe(request)}`)
  }
  const began = performance.now()
  const seconds = () => Math.round((performance.now() - began) / 1000)
  const isOver = () => directory.ended() !== undefined || seconds() > options.seconds
  const run = (from, to) => sendAll({ generate, attack, isOver, only: options.only }, from, to)

  const warmUp = Math.ceil(options.requests * WARM_UP_SHARE)
  await run(0, warmUp)
  const baseline = await settled(directory)
  say(`baseline after ${report.count()} requests: ${inMib(baseline.used)} in use`)
  const progress = setInterval(() => say(`${report.count()} requests, ${seconds()} s`), PROGRESS_MS)
  await run(warmUp, options.requests)
  clearInterval(progress)
  const summary = `${report.count()} requests in ${seconds()} s, seed ${options.seed}`
  if (report.count() < options.requests && options.only === '') failures.add('not finished', summary)

  if (directory.ended()) failures.add('the directory ended', `${directory.ended()}: ${directory.log()}`)
  else await checkAfterwards(directory, baseline, failures)
  probe.stop()

  const worst = blocks.sort((a, b) => b.blocked - a.blocked).map((block) => describeBlock(generate, block))
  for (const [i, { blocked }] of blocks.entries())
    if (blocked > options.blocked) failures.add(`event loop blocked for more than ${options.blocked} ms`, worst[i])
  say([...report.lines(), '', 'longest blocks of the event loop (and the requests that had arrived last):'].join('\n'))
  for (const line of worst.slice(0, BLOCKS_PRINTED)) say(`  ${line}`)
  if (directory.log()) say(`\nend of the directory's log:\n${directory.log().slice(-LOG_PRINTED)}`)
  await directory.stop()
  say(`\n${[summary, ...failures.lines()].join('\n')}`)
  say(failures.sorts().length === 0 ? 'passed' : `failed: ${failures.sorts().join('; ')}`)
  return failures.sorts().length === 0 ? 0 : 1
}

/** Starts and fills the directory, and what attacks it. */
async function prepare(options, onBlocked) {
  const agents = await startAgents()
  const directory = await startDirectory(onBlocked)
  const { url } = directory
  say(`loading ${options.agents} agents`)
  await importLines(url, worldLines(options.agents, options.seed, agents.url))
  const keys = await createKeys(url)
  const operations = operationsOf(await (await fetch(`${url}/openapi.json`)).json())
  return {
    directory,
    generate: createGenerator({ ...options, operations, callers: ['anonymous', ...Object.keys(keys)] }),
    send: createSend(url, keys),
    probe: startProbe(url, [directory.pid, agents.pid, process.pid]),
  }
}

/** Whether the directory is what it was before, once the attack is over. */
async function checkAfterwards(directory, baseline, failures) {
  await cleanUp(directory.url)
  const memory = await settled(directory)
  say(`memory in use: ${inMib(baseline.used)} before, ${inMib(memory.used)} after (resident ${inMib(memory.rss)})`)
  const limit = baseline.used * (1 + MEMORY_TOLERANCE.share) + MEMORY_TOLERANCE.bytes
  if (memory.used > limit) failures.add('memory above its baseline', `${inMib(memory.used)}, limit ${inMib(limit)}`)
  const { status } = await fetch(`${directory.url}/health/ready`)
  if (status !== 200) failures.add('not ready after the run', `status ${status}`)
}

/** Names the requests that the directory was working on: the cause is most likely one of the last. */
function describeBlock(generate, { blocked, late, recent }) {
  const requests = recent.flatMap((id) => {
    const [, n] = /^hostile-(\d+)$/.exec(id) ?? []
    return n === undefined ? [] : [`#${n} ${generate(Number(n)).kind}`]
  })
  return `${blocked.toFixed(0)} ms (late by ${late.toFixed(0)} ms): ${requests.join(', ')}`
}

const SCOPES = {
  publisher: ['publish', 'discover', 'invoke'],
  caller: ['discover', 'invoke'],
  reader: ['discover'],
}

/** Keys of the callers, by the name that the generator uses. */
async function createKeys(url) {
  const keys = { admin: ADMIN_KEY }
  for (const [subject, scopes] of Object.entries(SCOPES))
    keys[subject] = (await administer(url, 'POST', '/admin/keys', { subject, scopes })).key
  return keys
}

/** Sends requests `from` to `to`; slow clients do not delay the others. */
async function sendAll({ generate, attack, isOver, only }, from, to) {
  let n = from
  const slow = new Set()
  const worker = async () => {
    while (n < to && !isOver()) {
      const request = generate(n++)
      if (!request.kind.includes(only)) continue
      const done = attack(request)
      if (request.manner === 'plain') await done
      else {
        const entry = done.finally(() => slow.delete(entry))
        slow.add(entry)
        if (slow.size >= SLOW_AT_ONCE) await Promise.race(slow)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  await Promise.all(slow)
}

/** Memory once no client is connected. */
async function settled(directory) {
  closeConnections()
  await sleep(SETTLE_MS)
  return directory.memory()
}

/** Deletes what the requests have created, so that only leaks remain. */
async function cleanUp(url) {
  for (const id of HOSTILE_IDS) await administer(url, 'DELETE', `/agents/${id}`)
  const { keys = [] } = await administer(url, 'GET', '/admin/keys')
  for (const { id, subject } of keys) {
    if (!(subject in SCOPES) && subject !== 'admin') await administer(url, 'DELETE', `/admin/keys/${id}`)
  }
  const { grants = [] } = await administer(url, 'GET', '/admin/grants')
  for (const { id } of grants) await administer(url, 'DELETE', `/admin/grants/${id}`)
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options) process.exitCode = await main(options)
  else say(HELP)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
  process.exitCode = 2
}
process.exit()
