// The processes that ask, and how they are told to.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startWorker } from '../registry/processes.mjs'
import { CALLS } from './agents.mjs'

/** Calls by which each server becomes as fast as it gets, at this many connections. */
const WARM_UP = { connections: 32, count: 15_000 }

/**
 * Load generators for these servers.
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
    if (result.failed > 0) throw new Error(`${name}: ${result.failed} failures, such as ${result.failure}`)
    if (result.loadCpu > 0.95)
      say(`${name}: the load generator was at ${(result.loadCpu * 100).toFixed(0)} % of a core`)
    return result
  }
  /** Calls of the agent that answers at once. */
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
    /** Streams of the agent that streams. */
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
