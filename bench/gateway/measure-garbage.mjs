// Garbage: bytes that a call, or an event of a stream, allocates on the heap.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBare } from '../registry/processes.mjs'
import { startLoads } from './loads.mjs'
import { LIMITS, plain, startOurs } from './servers.mjs'

const HOOK = new URL('garbage-hook.mjs', import.meta.url).href
/** Starting and stopping the count takes a moment. */
const SETTLE_MS = 300
const CALLS = { connections: 32, count: 20_000 }
const STREAMS = { connections: 16, streams: 2, input: { events: 2000, every: 0 } }

/**
 * Counts in servers of its own, because the hook costs time.
 * @returns {Promise<Record<'ours' | 'undici', { call: number, event: number }>>} bytes
 */
export async function measureGarbage({ folder }, say) {
  say('garbage…')
  const upstream = await startBare('../gateway/upstream.mjs')
  const fileOf = (name) => join(folder, `garbage-${name}`)
  const hooked = (name) => ({ nodeFlags: ['--import', HOOK], env: { BENCH_GARBAGE_FILE: fileOf(name) } })
  const servers = {
    ours: await startOurs(join(folder, 'garbage'), upstream, { gateway: LIMITS, ...hooked('ours') }),
    undici: plain(await startBare('../gateway/bare-undici.mjs', String(upstream.port), hooked('undici'))),
  }
  const loads = await startLoads(servers, folder, say)
  const garbageIn = async (name, run) => {
    servers[name].signal('SIGUSR2')
    await sleep(SETTLE_MS)
    await run()
    servers[name].signal('SIGUSR2')
    await sleep(SETTLE_MS)
    return Number(readFileSync(fileOf(name), 'utf8'))
  }
  const measured = {}
  for (const name of Object.keys(servers)) {
    const call = (await garbageIn(name, () => loads.call(name, CALLS))) / CALLS.count
    const events = STREAMS.connections * STREAMS.streams * STREAMS.input.events
    await loads.stream(name, STREAMS)
    const event = (await garbageIn(name, () => loads.stream(name, STREAMS))) / events
    measured[name] = { call, event }
  }
  loads.stop()
  for (const { stop } of [...Object.values(servers), upstream]) await stop()
  return measured
}
