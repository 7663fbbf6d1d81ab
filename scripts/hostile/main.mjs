// Attacks a directory with generated requests: npm run test:hostile. See HELP for options and for what makes it fail.
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_KEY, administer, importLines, startAgents, startDirectory } from './directory.mjs'
import { createGenerator, operationsOf } from './generate.mjs'
import { HELP, readOptions } from './options.mjs'
import { startProbe } from './probe.mjs'
import { createReport, describe, inMib } from './report.mjs'
import { closeConnections, createSend } from './send.mjs'
import { HOSTILE_PREFIX, worldLines } from './world.mjs'

const HANG_MS = 2000
const BLOCKED_MS = 200
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
/** Failures of one sort that are printed. */
const PRINTED = 10

const say = (line) => process.stdout.write(`${line}\n`)

async function main(options) {
  const blocks = []
  const failures = new Map()
  const fail = (sort, detail) => failures.set(sort, [...(failures.get(sort) ?? []), detail])

  const agents = await startAgents()
  const directory = await startDirectory((block) => blocks.push(block))
  const { url } = directory
  say(`loading ${options.agents} agents`)
  await importLines(url, worldLines(options.agents, options.seed, agents.url))
  const keys = await createKeys(url)
  const operations = operationsOf(await (await fetch(`${url}/openapi.json`)).json())
  const generate = createGenerator({ ...options, operations, callers: ['anonymous', ...Object.keys(keys)] })
  const send = createSend(url, keys)
  const report = createReport()
  const probe = startProbe(url, [directory.pid, agents.pid, process.pid])
  // Loading is not part of the attack.
  blocks.length = 0

  const attack = async (request) => {
    const result = await send(request)
    report.add(request, result)
    if (result.status === 500) fail('status 500', describe(request))
    const { from, to } = result.silence ?? { from: 0, to: 0 }
    const ms = to - from > HANG_MS ? to - from - probe.lost(from, to) : 0
    if (ms > HANG_MS) fail(`no byte for more than ${HANG_MS} ms`, `${ms.toFixed(0)} ms ${describe(request)}`)
  }
  const began = performance.now()
  const isOver = () => directory.ended() !== undefined || performance.now() - began > options.seconds * 1000
  const run = (from, to) => sendAll({ generate, attack, isOver, only: options.only }, from, to)

  const warmUp = Math.ceil(options.requests * WARM_UP_SHARE)
  let sent = await run(0, warmUp)
  const baseline = await settled(directory)
  say(`baseline after ${sent} requests: ${inMib(baseline.used)} in use`)
  const progress = setInterval(() => say(`${report.count()} requests, ${seconds(began)} s`), PROGRESS_MS)
  sent += await run(warmUp, options.requests)
  clearInterval(progress)
  const took = seconds(began)

  if (directory.ended() === undefined) {
    await cleanUp(url, keys)
    const memory = await settled(directory)
    say(`memory in use: ${inMib(baseline.used)} before, ${inMib(memory.used)} after (resident ${inMib(memory.rss)})`)
    const limit = baseline.used * (1 + MEMORY_TOLERANCE.share) + MEMORY_TOLERANCE.bytes
    if (memory.used > limit) fail('memory above its baseline', `${inMib(memory.used)}, more than ${inMib(limit)}`)
    const { status } = await fetch(`${url}/health/ready`)
    if (status !== 200) fail('not ready after the run', `status ${status}`)
    if (report.count() < options.requests && options.only === '')
      fail('not finished in time', `${report.count()} of ${options.requests} requests in ${options.seconds} s`)
  } else fail('the directory ended', `${directory.ended()}: ${directory.log().slice(-2000)}`)
  probe.stop()

  for (const line of report.lines()) say(line)
  const worst = blocks.sort((a, b) => b.blocked - a.blocked)
  say('\nlongest blocks of the event loop (and the requests that had arrived last):')
  for (const block of worst.slice(0, PRINTED)) say(`  ${describeBlock(generate, block)}`)
  for (const block of worst.filter(({ blocked }) => blocked > BLOCKED_MS))
    fail(`event loop blocked for more than ${BLOCKED_MS} ms`, describeBlock(generate, block))
  if (directory.log()) say(`\nlog of the directory:\n${directory.log().slice(-2000)}`)
  say(`\n${report.count()} requests in ${took} s, seed ${options.seed}`)
  await directory.stop()

  for (const [sort, details] of failures) {
    say(`FAILED ${sort}: ${details.length}`)
    for (const detail of details.slice(0, PRINTED)) say(`  ${detail}`)
  }
  say(failures.size === 0 ? 'passed' : `failed: ${[...failures.keys()].join('; ')}`)
  return failures.size === 0 ? 0 : 1
}

const seconds = (began) => Math.round((performance.now() - began) / 1000)

/** Names the requests that the directory was working on: the cause is most likely one of the last. */
function describeBlock(generate, { blocked, late, recent }) {
  const requests = recent.flatMap((id) => {
    const [, n] = /^hostile-(\d+)$/.exec(id) ?? []
    return n === undefined ? [] : [`#${n} ${generate(Number(n)).kind}`]
  })
  return `${blocked.toFixed(0)} ms (late by ${late.toFixed(0)} ms): ${requests.join(', ')}`
}

/** Keys of the callers, by the name that the generator uses. */
async function createKeys(url) {
  const scopes = {
    publisher: ['publish', 'discover', 'invoke'],
    caller: ['discover', 'invoke'],
    reader: ['discover'],
  }
  const keys = { admin: ADMIN_KEY }
  for (const [subject, granted] of Object.entries(scopes))
    keys[subject] = (await administer(url, 'POST', '/admin/keys', { subject, scopes: granted })).key
  return keys
}

/** Sends requests `from` to `to`; slow clients do not delay the others. Returns how many were sent. */
async function sendAll({ generate, attack, isOver, only }, from, to) {
  let n = from
  let sent = 0
  const slow = new Set()
  const worker = async () => {
    while (n < to && !isOver()) {
      const request = generate(n++)
      if (!request.kind.includes(only)) continue
      sent += 1
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
  return sent
}

/** Memory once no client is connected. */
async function settled(directory) {
  closeConnections()
  await sleep(SETTLE_MS)
  return directory.memory()
}

/** Deletes what the requests have created, so that only leaks remain. */
async function cleanUp(url, own) {
  const suffixes = [...Array(40).keys(), 'schema-1', 'schema-2']
  for (const suffix of suffixes) await administer(url, 'DELETE', `/agents/${HOSTILE_PREFIX}${suffix}`)
  const { keys = [] } = await administer(url, 'GET', '/admin/keys')
  for (const { id, subject } of keys) {
    if (!(subject in own)) await administer(url, 'DELETE', `/admin/keys/${id}`)
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
