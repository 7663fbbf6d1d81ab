// The servers to measure: the upstream alone, the directory and the proxies in front of it.
import { join } from 'node:path'
import { startBare } from '../registry/processes.mjs'
import { startFilledDirectory } from './directory.mjs'
import { hasNginx, startNginx } from './nginx.mjs'

/** Concurrent calls to one agent: enough for all streams. */
export const LIMITS = { maxCalls: 8192, maxCallsPerAgent: 4096 }

/**
 * @typedef {import('../registry/processes.mjs').Running & {
 *   path: (agent: string) => string, headers: Record<string, string>
 * }} Server with the path of each agent and the headers of a call
 */

/**
 * @param {string} folder
 * @param {(line: string) => void} say
 * @returns {Promise<Record<string, Server>>}
 */
export async function startServers(folder, say) {
  const upstream = await startBare('../gateway/upstream.mjs')
  const toUpstream = String(upstream.port)
  const servers = {
    direct: plain(upstream),
    ours: await startOurs(join(folder, 'ours'), upstream, { gateway: LIMITS }),
    undici: plain(await startBare('../gateway/bare-undici.mjs', toUpstream)),
    fastify: plain(await startBare('../gateway/bare-fastify-proxy.mjs', toUpstream)),
  }
  if (!hasNginx()) {
    say('skipping nginx: not installed (Debian: apt-get install nginx-light)')
    return servers
  }
  return { ...servers, nginx: plain(await startNginx(folder, upstream)) }
}

/**
 * A server that passes calls on as they are.
 * @param {import('../registry/processes.mjs').Running} server
 * @returns {Server}
 */
export const plain = (server) => ({ ...server, path: (agent) => `/${agent}`, headers: {} })

/** @returns {Promise<Server>} */
export async function startOurs(folder, upstream, options) {
  const directory = await startFilledDirectory(folder, upstream, options)
  return {
    ...directory,
    path: (agent) => `/agents/${agent}/invoke`,
    headers: { authorization: `Bearer ${directory.key}` },
  }
}
