// Memory over a long run, and the effect of a slow agent on calls to others.
import { join } from 'node:path'
import { residentMiB, startWorker } from '../registry/processes.mjs'
import { interleave } from '../registry/statistics.mjs'
import { CALLS } from './agents.mjs'
import { startLoads } from './loads.mjs'
import { startOurs } from './servers.mjs'

const CONNECTIONS = 32
/** Memory samples taken in a run. */
const SAMPLES = 30
/** Callers of the slow agent; the default limit admits 256 of them. */
const SLOW_CALLERS = 300
/** Think time of the other callers, in milliseconds, so that latency is measured and not queueing for the CPU. */
const PAUSE_MS = 50

/** Samples the resident memory, in MiB, at regular intervals of a long run. */
export async function measureMemory({ steady }, servers, loads, say) {
  say(`${steady} s of calls…`)
  const { pid } = servers.ours
  const samples = []
  const timer = setInterval(() => samples.push(residentMiB(pid)), (steady * 1000) / SAMPLES)
  const { perSecond } = await loads.call('ours', { connections: CONNECTIONS, seconds: steady })
  clearInterval(timer)
  return { samples, calls: Math.round(perSecond * steady) }
}

/** Latency of calls to an agent with and without a slow agent at its concurrency limit, by round. */
export async function measureSlowAgent({ rounds, seconds, folder }, upstream, say) {
  say('a slow agent at its limit…')
  const ours = await startOurs(join(folder, 'slow'), upstream)
  const loads = await startLoads({ ours }, folder, say)
  const pressure = startWorker('../gateway/slow-load.mjs')
  const start = { port: ours.port, path: ours.path('slow'), headers: ours.headers, input: CALLS[0] }
  const measure = () => loads.call('ours', { connections: CONNECTIONS, seconds: seconds * 2, pauseMs: PAUSE_MS })
  let rejected = 0
  const runs = await interleave(rounds, {
    undisturbed: measure,
    async disturbed() {
      await pressure.ask({ start: { ...start, connections: SLOW_CALLERS } })
      const result = await measure()
      rejected += (await pressure.ask({ stop: true })).rejected
      return result
    },
  })
  loads.stop()
  pressure.stop()
  await ours.stop()
  return { ...runs, rejected }
}
