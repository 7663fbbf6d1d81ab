// The load generators, which are child processes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startWorker } from '../registry/processes.mjs'
import { CALLS } from './agents.mjs'

/** Warm-up calls for each server, and their connections. */
const WARM_UP = { connections: 32, count: 15_000 }

/**
 * Starts load generators for the servers.
 * @param {Record<string, import('./servers.mjs').Server>} servers
 */
export async function startLoads(servers, folder, say) {
  const load = startWorker('load.mjs')
  const streams = startWorker('../gateway/stream-load.mjs')

  const add = async (name, { path, headers }) => {
    const file = join(folder, `${name}.json`)
    writeFileSync(file, JSON.stringify({ post: path('agent'), bodies: CALLS, headers }))
    await load.ask({ add: name, file })
  }
  const judged = (name, result) => {
    if (result.failed > 0)
      throw new Error(`${name}: ${result.failed} requests failed, for example with ${result.failure}`)
    if (result.loadCpu > 0.95)
      say(`${name}: the load generator used ${(result.loadCpu * 100).toFixed(0)} % of a core and may be the bottleneck`)
    return result
  }
  /** Calls the agent that responds immediately. */
  const call = async (name, run) => {
    const { port, pid } = servers[name]
    return judged(name, await load.ask({ set: name, port, pid, ...run }))
  }

  for (const [name, server] of Object.entries(servers)) {
    await add(name, server)
    await call(name, WARM_UP)
  }
  return {
    call,
    /** Reads streams of the streaming agent. */
    async stream(name, run) {
      const { port, pid, path, headers } = servers[name]
      return judged(name, await streams.ask({ port, pid, path: path('stream'), headers, ...run }))
    },
    stop() {
      load.stop()
      streams.stop()
    },
  }
}
