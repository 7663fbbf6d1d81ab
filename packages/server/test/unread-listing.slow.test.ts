import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aidipAgent } from './support/documents.js'
import { ADMIN_KEY, type ServerProcess, startServer, temporaryFolder } from './support/process.js'

const AGENTS = 20_000
const SOCKETS = 200
/** Megabytes that the heap of the server may have. */
const HEAP_MB = 300
/** Megabytes that all clients together may add. One copy of the listing for each would be more than 1,500. */
const GROWTH_MB = 200

const folder = temporaryFolder()
const sockets: Socket[] = []
let server: ServerProcess
beforeAll(async () => {
  const config = join(folder.path, 'config.json')
  const settings = {
    connections: { stallTimeoutMs: 3000 },
    // What a search costs is compared below, and refills by one in two seconds.
    rateLimits: { lookup: 1e6, search: 30 },
    search: { embedder: 'none' },
  }
  writeFileSync(config, JSON.stringify(settings))
  server = await startServer(['--data', join(folder.path, 'data'), '--config', config], {
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
  })
  const lines = Array.from({ length: AGENTS }, (_, i) => {
    // Long names make a long listing: about 8 MB.
    const own = i === 7 ? { supported_languages: ['de'], motto: 'Gern.' } : { supported_languages: ['en'] }
    return JSON.stringify({ document: aidipAgent({ id: `agent-${i}-${'x'.repeat(150)}`, ...own }) })
  })
  const response = await fetch(`${server.url}/admin/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/x-ndjson' },
    body: `${lines.join('\n')}\n`,
  })
  expect((await response.text()).trim().split('\n')).toHaveLength(AGENTS)
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await server.stop()
  folder.remove()
})

const residentMb = (): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1]) / 1024

const remaining = (response: Response): number => Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])

it('a page and an indexed filter cost the same however many agents there are; a filter for which all are checked costs more', async () => {
  const search = async (body: object): Promise<{ found: string; left: number }> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${server.url}/agents/search`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { found: response.headers.get('x-total-count') ?? '', left: remaining(response) }
  }
  const first = await search({ top: 1 })
  const page = await search({ top: 1 })
  expect([first.found, page.found]).toEqual([String(AGENTS), String(AGENTS)])
  expect(first.left - page.left).toBeLessThanOrEqual(1)
  const german = await search({ filters: { language: 'de' } })
  expect(german.found).toBe('1')
  expect(page.left - german.left).toBeLessThanOrEqual(1)
  const obliging = await search({ filters: { motto: 'Gern.' } })
  expect(obliging.found).toBe('1')
  // One for the request, and one for every 2,000 agents; one may have come back meanwhile.
  expect(german.left - obliging.left).toBeGreaterThanOrEqual(AGENTS / 2000)
})

it('clients that request the listing and never read share its bytes, and are disconnected', async () => {
  await fetch(`${server.url}/.well-known/agents.json`).then((response) => response.arrayBuffer())
  const before = residentMb()
  const { hostname, port } = new URL(server.url)
  let peak = before
  for (let i = 0; i < SOCKETS; i++) {
    const socket = connect(Number(port), hostname).pause()
    socket.on('error', () => {})
    socket.write(`GET /.well-known/agents.json HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    sockets.push(socket)
    // The listing changes meanwhile: responses that are being sent keep only the part that changed.
    if (i % 20 === 0) {
      const body = JSON.stringify(aidipAgent({ id: `changed-${i}` }))
      const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' }
      expect((await fetch(`${server.url}/agents`, { method: 'POST', headers, body })).status).toBe(201)
    }
  }
  const isClosed = (): boolean => server.stderr().split('a client does not read its response').length > SOCKETS
  for (let i = 0; i < 300 && !isClosed(); i++) {
    peak = Math.max(peak, residentMb())
    await sleep(100)
  }
  expect(isClosed()).toBe(true)
  expect(peak - before).toBeLessThan(GROWTH_MB)
  expect((await fetch(`${server.url}/health/ready`)).status).toBe(200)
})
