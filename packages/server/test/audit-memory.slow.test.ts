import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSqliteStore } from '../src/store/sqlite/open-sqlite-store.js'
import { entry } from './store/fixtures.js'
import { ADMIN_KEY, type ServerProcess, startServer, temporaryFolder } from './support/process.js'

/** About 50 MB as lines of JSON. */
const ENTRIES = 100_000
const READERS = 10
/** Megabytes: a fraction of what the readers have requested together. */
const HEAP_LIMIT = 128

const folder = temporaryFolder()
let server: ServerProcess
beforeAll(async () => {
  const data = join(folder.path, 'data')
  const store = await openSqliteStore(data)
  const full = entry({ at: Date.now(), detail: 'x'.repeat(200), before: { digest: '0'.repeat(64) }, after: {} })
  for (let i = 0; i < ENTRIES; i += 1000) await store.appendAudit(Array<typeof full>(1000).fill(full))
  await store.close()
  const config = join(folder.path, 'config.json')
  writeFileSync(config, JSON.stringify({ search: { embedder: 'none' } }))
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_LIMIT}` }
  server = await startServer(['--data', data, '--config', config], { env })
})
afterAll(async () => {
  await server.stop()
  folder.remove()
})

/** Requests the whole audit log and does not read it. */
function requestOnly(url: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.pause()
  const headers = ['Host: directory', `Authorization: Bearer ${ADMIN_KEY}`, 'Accept: application/x-ndjson']
  socket.write(`GET /admin/audit HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
  return socket
}

it('streams of the audit log take little memory, even if nobody reads them', async () => {
  const sockets = Array.from({ length: READERS }, () => requestOnly(server.url))
  await wait(5000)
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, accept: 'application/x-ndjson' }
  const response = await fetch(`${server.url}/admin/audit`, { headers })
  let lines = 0
  for await (const chunk of response.body ?? []) for (const byte of chunk) if (byte === 10) lines++
  for (const socket of sockets) socket.destroy()
  expect(lines).toBeGreaterThanOrEqual(ENTRIES)
  expect(server.child.exitCode).toBeNull()
})
