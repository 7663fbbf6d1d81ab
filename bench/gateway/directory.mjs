// The directory to measure: a child process with registered agents and an API key that may call them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { importAgents } from '../registry/import-agents.mjs'
import { ADMIN_KEY, startDirectory } from '../registry/processes.mjs'
import { toDocuments } from './agents.mjs'

/** Rate limits are too high to be reached, but still checked at each call. */
const CONFIG = {
  rateLimits: { search: 1e9, register: 1e9, lookup: 1e9, invoke: 1e9 },
  search: { semantic: false },
}

/** One key makes all calls. */
const GATEWAY = { maxCallsPerCaller: 1e6 }

/**
 * Starts a directory and registers the agents.
 * @returns {Promise<import('../registry/processes.mjs').Running & { key: string }>}
 */
export async function startFilledDirectory(folder, upstream, { gateway = {}, ...more } = {}) {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify({ ...CONFIG, gateway: { ...GATEWAY, ...gateway } }))
  const directory = await startDirectory({ data: join(folder, 'data'), config, ...more })
  await importAgents(directory.port, toDocuments(upstream))
  const response = await fetch(`http://127.0.0.1:${directory.port}/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ subject: 'caller', scopes: ['invoke'] }),
  })
  const { key } = await response.json()
  return { ...directory, key }
}
