// Streams: when the first event comes, how many come a second, and many streams at once.
import { setTimeout as sleep } from 'node:timers/promises'
import { residentMiB } from '../registry/processes.mjs'
import { takeTurns } from '../registry/statistics.mjs'

/** Streams one after the other, of few events: what counts is the first, with nobody in the way. */
const SHORT = { connections: 1, input: { events: 2, every: 5 } }
const SHORT_A_SECOND = 100
/** Streams as fast as they are taken. */
const FAST = { connections: 16, input: { events: 2000, every: 0 } }
const FAST_A_SECOND = 3
/** Streams that are all open for this many seconds, with an event of each now and then. */
const OPEN_SECONDS = 5
const OPEN_EVERY_MS = 250

/** @returns {Promise<{ first: Record<string, any[]>, fast: Record<string, any[]>, open: Record<string, any> }>} */
export async function measureStreams({ rounds, seconds, streams }, servers, loads, say) {
  const inTurns = (run) =>
    takeTurns(rounds, Object.fromEntries(Object.keys(servers).map((name) => [name, () => loads.stream(name, run)])))
  const warm = { ...FAST, streams: 1 }
  for (const name of Object.keys(servers)) await loads.stream(name, warm)
  say('the first event of a stream…')
  const first = await inTurns({ ...SHORT, streams: Math.ceil(SHORT_A_SECOND * seconds) })
  say('events as fast as they are taken…')
  const fast = await inTurns({ ...FAST, streams: Math.ceil(FAST_A_SECOND * seconds) })
  say(`${streams} streams at once…`)
  const open = {}
  for (const name of Object.keys(servers)) open[name] = await holdOpen(name, servers[name], loads, streams)
  return { first, fast, open }
}

/** All open at once; memory is that of the time when all are. */
async function holdOpen(name, { pid }, loads, streams) {
  const before = residentMiB(pid)
  const input = { events: Math.ceil((OPEN_SECONDS * 1000) / OPEN_EVERY_MS), every: OPEN_EVERY_MS }
  const running = loads.stream(name, { connections: streams, streams: 1, input })
  await sleep((OPEN_SECONDS * 1000) / 2)
  const during = residentMiB(pid)
  return { ...(await running), before, during }
}
