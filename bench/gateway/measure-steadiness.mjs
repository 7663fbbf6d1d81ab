// What other things do to calls: a long time, and an agent that is slow.
import { join } from 'node:path'
import { residentMiB, startWorker } from '../registry/processes.mjs'
import { takeTurns } from '../registry/statistics.mjs'
import { CALLS } from './agents.mjs'
import { startLoads } from './loads.mjs'
import { startOurs } from './servers.mjs'

const CONNECTIONS = 32
/** How often memory is looked at in a run. */
const LOOKS = 30
/** Callers of the slow agent; with the limits as they come, 256 of them are let in. */
const SLOW_CALLERS = 300
/** Milliseconds between the calls of others: what is measured is their way, not the queue for the processor. */
const PAUSE_MS = 50

/** MiB in use at even steps of a long run of calls. */
export async function measureMemory({ steady }, servers, loads, say) {
  say(`${steady} s of calls…`)
  const { pid } = servers.ours
  const looks = []
  const timer = setInterval(() => looks.push(residentMiB(pid)), (steady * 1000) / LOOKS)
  const { perSecond } = await loads.call('ours', { connections: CONNECTIONS, seconds: steady })
  clearInterval(timer)
  return { looks, calls: Math.round(perSecond * steady) }
}

/** Calls of an agent while another one is slow and at its limit, and while it is not: by round. */
export async function measureSlowAgent({ rounds, seconds, folder }, upstream, say) {
  say('a slow agent at its limit…')
  const ours = await startOurs(join(folder, 'slow'), upstream)
  const loads = await startLoads({ ours }, folder, say)
  const pressure = startWorker('../gateway/slow-load.mjs')
  const start = { port: ours.port, path: ours.path('slow'), headers: ours.headers, input: CALLS[0] }
  const measure = () => loads.call('ours', { connections: CONNECTIONS, seconds: seconds * 2, pauseMs: PAUSE_MS })
  let refused = 0
  const runs = await takeTurns(rounds, {
    undisturbed: measure,
    async disturbed() {
      await pressure.ask({ start: { ...start, connections: SLOW_CALLERS } })
      const result = await measure()
      refused += (await pressure.ask({ stop: true })).refused
      return result
    },
  })
  loads.stop()
  pressure.stop()
  await ours.stop()
  return { ...runs, refused }
}
