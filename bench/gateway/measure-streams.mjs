// Streams: delay of the first event, throughput, and memory with many streams open.
import { setTimeout as sleep } from 'node:timers/promises'
import { residentMiB } from '../registry/processes.mjs'
import { interleave } from '../registry/statistics.mjs'

/** Sequential short streams, to measure the delay of the first event without contention. */
const SHORT = { connections: 1, input: { events: 2, every: 5 } }
const SHORT_PER_SECOND = 100
/** Streams at full speed, to measure throughput. */
const FAST = { connections: 16, input: { events: 2000, every: 0 } }
const FAST_PER_SECOND = 3
/** Streams that stay open together for this long, with an event from time to time. */
const OPEN_SECONDS = 5
const OPEN_EVERY_MS = 250

/** @returns {Promise<{ first: Record<string, any[]>, fast: Record<string, any[]>, open: Record<string, any> }>} */
export async function measureStreams({ rounds, seconds, streams }, servers, loads, say) {
  const interleaved = (run) =>
    interleave(rounds, Object.fromEntries(Object.keys(servers).map((name) => [name, () => loads.stream(name, run)])))
  const warm = { ...FAST, streams: 4 }
  for (const name of Object.keys(servers)) await loads.stream(name, warm)
  say('the first event of a stream…')
  const first = await interleaved({ ...SHORT, streams: Math.ceil(SHORT_PER_SECOND * seconds) })
  say('events at full speed…')
  const fast = await interleaved({ ...FAST, streams: Math.ceil(FAST_PER_SECOND * seconds) })
  say(`${streams} concurrent streams…`)
  const open = {}
  for (const name of Object.keys(servers)) open[name] = await holdOpen(name, servers[name], loads, streams)
  return { first, fast, open }
}

/** Opens all streams together and measures memory while they are open. */
async function holdOpen(name, { pid }, loads, streams) {
  const before = residentMiB(pid)
  const input = { events: Math.ceil((OPEN_SECONDS * 1000) / OPEN_EVERY_MS), every: OPEN_EVERY_MS }
  const running = loads.stream(name, { connections: streams, streams: 1, input })
  await sleep((OPEN_SECONDS * 1000) / 2)
  const during = residentMiB(pid)
  return { ...(await running), before, during }
}
