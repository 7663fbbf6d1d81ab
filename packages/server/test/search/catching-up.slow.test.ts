import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { settle } from './settle.js'

const AGENTS = 20_000
/** Words of which every document has some, as real documents do. */
const WORDS = Array.from({ length: 3000 }, (_, i) => `${'bcdfghjklm'[i % 10]}${'aeiou'[i % 5]}${i.toString(36)}`)
/** Milliseconds; slices of background work take 8. Indexing everything at once would take more than a second. */
const MAX_BLOCKED_MS = 200

/** A generator of pseudo-random numbers (mulberry32), so that each run has the same documents. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const random = createRandom(7)
const text = (length: number): string => Array.from({ length }, () => WORDS[random(WORDS.length)]).join(' ')
const documentOf = (i: number): object => ({
  document: {
    id: `agent-${i}`,
    name: text(3),
    description: `everywhere ${text(60)}`,
    capabilities: ['x'],
    endpoint: 'https://a.example',
    inputs: { text: 'string' },
    outputs: { text: 'string' },
    operations: [{ name: 'run', description: text(20), inputs: { text: text(5) }, outputs: { text: text(5) } }],
  },
})

/** An embedding endpoint whose vectors depend on the length of a text. */
async function startEmbedder(): Promise<Server> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { input } = JSON.parse(body)
    response.end(JSON.stringify({ data: input.map((each: string) => ({ embedding: [1, each.length % 97] })) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** On Linux: nanoseconds that the main thread has run, without the threads beside it, such as those that collect garbage. */
const MAIN_THREAD = `/proc/self/task/${process.pid}/schedstat`

function cpuMs(): number {
  if (existsSync(MAIN_THREAD)) return Number(readFileSync(MAIN_THREAD, 'utf8').split(' ')[0]) / 1e6
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Measures how long the event loop is blocked at most, in CPU time: what other processes take does not count. */
function watchEventLoop(): () => number {
  let longest = 0
  const read = () => ({ wall: performance.now(), cpu: cpuMs() })
  let before = read()
  const timer = setInterval(() => {
    const after = read()
    longest = Math.max(longest, Math.min(after.wall - before.wall, after.cpu - before.cpu))
    before = after
  }, 1)
  return () => {
    clearInterval(timer)
    return longest
  }
}

const folder = mkdtempSync(join(tmpdir(), 'switchboard-catching-up-'))
let embedder: Server
let directory: TestDirectory
beforeAll(async () => {
  embedder = await startEmbedder()
  const { port } = embedder.address() as AddressInfo
  directory = await startDirectory({ search: { embedder: { url: `http://127.0.0.1:${port}`, model: 'lengths' } } })
  for (let i = 0; i < AGENTS; i += 1000) {
    const lines = Array.from({ length: 1000 }, (_, j) => JSON.stringify(documentOf(i + j))).join('\n')
    const { status } = await directory.post('/admin/import', {
      as: 'admin',
      raw: lines,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(status).toBe(200)
  }
  await settle(directory)
}, 300_000)
afterAll(async () => {
  await directory.close()
  embedder.close()
  rmSync(folder, { recursive: true })
})

const searchEverywhere = async () => {
  const { json, status, headers } = await directory.post('/v0/agents/search', { body: { query: 'everywhere', top: 5 } })
  expect(status).toBe(200)
  const warnings = headers.get('x-switchboard-warnings') ?? JSON.stringify(json.warnings ?? [])
  return { total: Number(json.count ?? json.total_count), warnings }
}

describe('a directory that has just started', () => {
  it('serves searches at once, from what is indexed and with a warning, and never blocks for long', async () => {
    // With another file: without an index that was saved.
    await directory.restart({ search: { indexFile: join(folder, 'index.bin') } })
    const stopWatching = watchEventLoop()
    const first = await searchEverywhere()
    expect(first.warnings).toContain('the index is still being built')
    expect(first.total).toBeLessThan(AGENTS)
    expect((await directory.get('/health/ready')).json.index.pending).toBeGreaterThan(0)
    let last = first
    while (last.warnings.includes('still being')) {
      // Searches without a pause would take most of the time that indexing needs.
      await sleep(20)
      const next = await searchEverywhere()
      expect(next.total).toBeGreaterThanOrEqual(last.total)
      last = next
    }
    expect(last).toMatchObject({ total: AGENTS })
    expect(stopWatching()).toBeLessThan(MAX_BLOCKED_MS)
  })
})
