import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JsonObject, readRecord } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { keepOperations, LEARNED_LIMITS } from '../../src/services/learning/learned-value.js'
import { createLearner } from '../../src/services/learning/learner.js'
import { operationSource } from '../../src/services/learning/operation-source.js'
import { createReadOperations } from '../../src/services/learning/read-operations.js'
import { type CheckLease, createCheckLease } from '../../src/services/trust/check-lease.js'
import { createCheckQueue } from '../../src/services/trust/check-queue.js'
import { createSharedResults, type SharedResults } from '../../src/services/trust/shared-results.js'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.js'
import { bodyOf, createTestGateway, sendJson, startHttpAgent } from '../gateway/agent.js'
import { testCatalog } from '../support/catalog.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

type Answer = (request: JsonObject, response: ServerResponse, raw: IncomingMessage) => void
const reply = ({ id }: JsonObject, result: unknown) => ({ jsonrpc: '2.0', id, result })
const tool = (name: string, inputSchema: unknown = { type: 'object' }, description = 'A tool.') => ({
  name,
  description,
  inputSchema,
})

/** A server that lists its tools as the test says. */
async function startServer(list: Answer, more: Partial<Record<'initialize', Answer>> = {}) {
  const methods: string[] = []
  const agent = await startHttpAgent(async (request, response) => {
    const body = JSON.parse((await bodyOf(request)) || '{}')
    methods.push(body.method ?? request.method)
    if (body.method === 'initialize' && more.initialize) more.initialize(body, response, request)
    else if (body.method === 'initialize')
      sendJson(response, reply(body, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: {} }))
    else if (body.method === 'tools/list') list(body, response, request)
    else response.writeHead(202).end()
  })
  open.push(agent)
  return { ...agent, methods }
}

/** A learner with a clock of its own, and agents that nobody has to register. */
function createTestLearner({
  bytes = 1e9,
  allowLoopback = true,
  lease = { hold: async () => true, release: async () => {} },
  results,
}: {
  bytes?: number
  allowLoopback?: boolean
  lease?: CheckLease
  results?: SharedResults
} = {}) {
  let at = 1_000_000
  const saved = new Map<string, JsonObject>()
  const errors: unknown[] = []
  const gateway = createTestGateway({ allowLoopback })
  open.push(gateway)
  const catalog = testCatalog({ get: async () => undefined })
  const learner = createLearner({
    catalog,
    read: createReadOperations({ fetch: gateway.fetch, newId: () => 'id' }),
    queue: createCheckQueue({ lease, intervalMs: 3_600_000, monotonic: () => at }),
    results: results ?? {
      of: (id) => saved.get(id),
      save: async (id, value) => void saved.set(id, JSON.parse(JSON.stringify(value))),
      news: async () => [],
    },
    bytesOf: () => bytes,
    intervalMs: 3_600_000,
    now: () => at,
    monotonic: () => at,
    random: () => 0,
    onError: (error) => errors.push(error),
  })
  catalog.subscribe(learner)
  const stopping = new AbortController()
  let number = 0
  return {
    errors,
    saved,
    catalog,
    register(id: string, url: string, owner = 'a', format: 'mcp' | 'directory' = 'mcp', origin?: JsonObject) {
      const document: JsonObject =
        format === 'mcp'
          ? { name: id, description: '', version: '1', remotes: [{ type: 'streamable-http', url }] }
          : { base: url, protocols: ['openapi'], capabilities: [] }
      number++
      const row = { id, number, owner, format, document, revision: number, createdAt: at, modifiedAt: at }
      // Only whether there is an origin matters here.
      const marks = origin ? JSON.parse(JSON.stringify({ origin })) : {}
      catalog.apply({ ...row, receivedAt: at, marks })
    },
    async pass(ms: number) {
      at += ms
      await learner.run(stopping.signal)
    },
    stop: () => stopping.abort(),
    names: (id: string) => catalog.get(id)?.record.operations.map(({ name }) => name),
  }
}

describe('a hostile list of tools', () => {
  it('that never ends is cut off, by pages and by tools, and a loop of cursors too', async () => {
    let pages = 0
    const agent = await startServer((request, response) =>
      sendJson(response, reply(request, { tools: [tool(`t${pages++}`)], nextCursor: 'again' })),
    )
    const learner = createTestLearner()
    learner.register('m', agent.url)
    await learner.pass(1000)
    await expect.poll(() => learner.names('m')?.length).toBe(20)
    expect(pages).toBe(20)
  })

  it('that is huge is kept within the limits: first without schemas, then not at all', () => {
    const inputs = { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(30_000) } } }
    const operations = Array.from({ length: 600 }, (_, n) => ({ name: `t${n}`, inputs, outputs: { type: 'object' } }))
    const kept = keepOperations(operations)
    expect(kept.isComplete).toBe(false)
    expect(kept.operations.length).toBeGreaterThan(100)
    expect(kept.operations.slice(0, 6).map((each) => 'properties' in each.inputs)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ])
    expect(JSON.stringify(kept.operations).length).toBeLessThan(LEARNED_LIMITS.bytes + 1000)
    const many = keepOperations(operations.map(({ name }) => ({ name, inputs: {}, outputs: {} })))
    expect([many.operations.length, many.isComplete]).toEqual([LEARNED_LIMITS.operations, false])
    const long = keepOperations([{ name: 'a', description: 'y'.repeat(1e6), inputs: {}, outputs: {} }])
    expect(long.operations[0]?.description).toHaveLength(4000)
  })

  it('loses names that are no names, and repeated ones', () => {
    const names = ['ok', '', 'a\u0000b', 'line\nbreak', '\ud800', 'x'.repeat(201), 'ok', 'with space']
    const kept = keepOperations(names.map((name) => ({ name, inputs: {}, outputs: {} })))
    expect(kept.operations.map(({ name }) => name)).toEqual(['ok', 'with space'])
  })

  it.each<[string, Answer]>([
    ['redirects', (_request, response) => void response.writeHead(307, { location: 'http://169.254.169.254/' }).end()],
    ['is no JSON', (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['is larger than a page', (request, response) => sendJson(response, reply(request, { tools: 'x'.repeat(2e6) }))],
    ['is an error', (_request, response) => sendJson(response, {}, 500)],
    ['breaks off', (_request, response) => void response.writeHead(200, { 'content-length': '999' }).write('{"json')],
  ])('that %s changes nothing, and is tried again later and later', async (_, list) => {
    let broken: ServerResponse | undefined
    const agent = await startServer((request, response, raw) => {
      broken = response
      list(request, response, raw)
      setTimeout(() => response.destroy(), 100)
    })
    const learner = createTestLearner()
    learner.register('m', agent.url)
    const lists = (): number => agent.methods.filter((method) => method === 'tools/list').length
    const settled = (count: number) => expect.poll(() => [lists(), broken?.destroyed]).toEqual([count, true])
    await learner.pass(1000)
    await settled(1)
    let passed = 0
    const goOn = async (): Promise<number> => {
      await learner.pass(5000)
      passed += 5000
      return lists()
    }
    await expect.poll(goOn, { timeout: 10_000 }).toBe(2)
    expect(passed).toBeGreaterThanOrEqual(60_000)
    await settled(2)
    expect([learner.names('m'), learner.saved.size, learner.errors]).toEqual([[], 0, []])
  })

  it('at an internal address is never requested', async () => {
    const agent = await startServer((request, response) => sendJson(response, reply(request, { tools: [tool('a')] })))
    const learner = createTestLearner({ allowLoopback: false })
    for (const [i, url] of [agent.url, 'http://169.254.169.254/mcp', 'http://10.0.0.1/mcp'].entries())
      learner.register(`m${i}`, url)
    learner.register('api', agent.url, 'a', 'directory')
    await learner.pass(1000)
    await new Promise((done) => setTimeout(done, 200))
    expect([agent.connections(), learner.saved.size, learner.errors]).toEqual([0, 0, []])
  })

  it('of a slow server holds up only itself: those of other owners are read at once', async () => {
    const slow = await Promise.all(Array.from({ length: 7 }, () => startServer(() => {})))
    const agent = await startServer((request, response) => sendJson(response, reply(request, { tools: [tool('a')] })))
    const learner = createTestLearner()
    for (const [i, { url }] of slow.entries())
      for (let n = 0; n < 5; n++) learner.register(`slow${i}-${n}`, `${url}?${n}`, 'slow')
    learner.register('m', agent.url, 'other')
    await learner.pass(1000)
    await expect.poll(() => learner.names('m')).toEqual(['a'])
    expect(slow.every(({ methods }) => methods.filter((method) => method === 'tools/list').length === 1)).toBe(true)
    learner.stop()
  })

  it('is shared by all agents at one endpoint that were registered at the same time', async () => {
    const agent = await startServer((request, response) => sendJson(response, reply(request, { tools: [tool('a')] })))
    const learner = createTestLearner()
    for (let n = 0; n < 20; n++) learner.register(`m${n}`, agent.url, `owner${n}`)
    await learner.pass(1000)
    await expect.poll(() => learner.saved.size).toBe(20)
    expect(agent.methods.filter((method) => method === 'tools/list')).toHaveLength(1)
  })

  it('takes no more memory than the quota of the owner', async () => {
    const agent = await startServer((request, response) => sendJson(response, reply(request, { tools: [tool('a')] })))
    const learner = createTestLearner({ bytes: 3000 })
    for (let n = 0; n < 6; n++) learner.register(`m${n}`, agent.url, n < 5 ? 'greedy' : 'other')
    await learner.pass(1000)
    await expect.poll(() => learner.names('m5')).toEqual(['a'])
    const kept = [0, 1, 2, 3, 4].filter((n) => learner.names(`m${n}`)?.length === 1)
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThan(5)
  })
})

it('the list of a copy is left to the directory where it is registered', async () => {
  const agent = await startServer((request, response) => sendJson(response, reply(request, { tools: [tool('a')] })))
  const learner = createTestLearner()
  learner.register('copy', agent.url, 'a', 'mcp', { service: 'https://peer.example', peer: 'p', freshness: {} })
  await learner.pass(1000)
  await new Promise((done) => setTimeout(done, 100))
  expect(agent.connections()).toBe(0)
})

it('a list that is confirmed stays the same object, and one that nobody confirms for a week is dropped', async () => {
  let isUp = true
  const agent = await startServer((request, response) => {
    if (isUp) sendJson(response, reply(request, { tools: [tool('a')] }))
    else sendJson(response, {}, 503)
  })
  const learner = createTestLearner()
  learner.register('m', agent.url)
  await learner.pass(1000)
  await expect.poll(() => learner.names('m')).toEqual(['a'])
  const { record } = learner.catalog.get('m') ?? {}
  const lists = (): number => agent.methods.filter((method) => method === 'tools/list').length
  await learner.pass(86_400_001)
  await expect.poll(() => learner.saved.get('m')?.readAt).toBe(1_000_000 + 1000 + 86_400_001)
  expect(learner.catalog.get('m')?.record).toBe(record)
  isUp = false
  await learner.pass(6 * 86_400_000)
  await expect.poll(lists).toBe(3)
  expect(learner.names('m')).toEqual(['a'])
  await expect
    .poll(async () => {
      await learner.pass(86_400_000)
      return learner.names('m')
    })
    .toEqual([])
})

it('reads nothing for agents that say it all, or whose address needs values', () => {
  const card = { name: 'c', description: '', version: '1', url: 'https://a.example', skills: [{ id: 's', name: 's' }] }
  const records = [
    readRecord('a2a', card, 'c'),
    readRecord('aidip', { name: 'p', endpoint: 'https://a.example', inputs: {}, outputs: {} }, 'p'),
    readRecord('mcp', { name: 'm', remotes: [{ type: 'streamable-http', url: 'https://{tenant}.example' }] }, 'm'),
    readRecord('mcp', { name: 'm', packages: [{ registryType: 'npm', identifier: 'm' }] }, 'm'),
  ]
  expect(records.map((each) => operationSource(each))).toEqual([undefined, undefined, undefined, undefined])
})

it('of two replicas one reads a list, and the other takes it over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-test-'))
  const store = await openSqliteStore(folder)
  const close = async (): Promise<void> => {
    await store.close()
    rmSync(folder, { recursive: true })
  }
  open.push({ close })
  const agent = await startServer((request, response) => sendJson(response, reply(request, { tools: [tool('a')] })))
  let at = 1_000_000
  const [one, other] = [await createReplica(), await createReplica()]
  async function createReplica() {
    const learner = createTestLearner({
      lease: createCheckLease({ store: store.trust, key: 'operations', now: () => at }),
      results: await createSharedResults({ store: store.trust, kind: 'operations', now: () => at }),
    })
    learner.register('m', agent.url)
    return learner
  }
  await one.pass(1000)
  await expect.poll(() => one.names('m')).toEqual(['a'])
  await other.pass(1000)
  at += 20_000
  await other.pass(0)
  expect(other.names('m')).toEqual(['a'])
  expect(agent.methods.filter((method) => method === 'tools/list')).toHaveLength(1)
})
