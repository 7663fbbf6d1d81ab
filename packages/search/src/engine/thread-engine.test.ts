import { mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { readRecord } from '@switchboard/protocol'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { type AgentIndex, createAgentIndex } from '../agent-index.js'
import { builtInStaticEncoder } from '../embedding/static-encoder.js'
import type { IndexedAgent } from '../select-agents.js'
import { createTextSearch } from '../text-search.js'
import { packVectors } from '../vectors/packed-vectors.js'
import { createLocalEngine } from './local-engine.js'
import { startSearchThread } from './start-search-thread.js'
import type { TextEngine } from './text-engine.js'
import { createThreadEngine } from './thread-engine.js'

const PROGRAM = new URL('../../dist/engine/search-thread.js', import.meta.url)
const DIMENSIONS = 128

const agent = (number: number, description: string, more = {}): IndexedAgent => {
  const document = { name: `Agent ${number}`, description, capabilities: [], endpoint: 'https://a.example/', ...more }
  return { number, status: 'active', record: readRecord('aidip', document, `agent-${number}`) }
}

const AGENTS = [
  agent(1, 'Translates contracts into Chinese.', { languages: ['zh'] }),
  agent(2, 'Tells how warm it will be tomorrow and whether it rains.'),
  agent(3, 'Converts PDF invoices into spreadsheets.'),
  agent(4, 'Converts spreadsheets into PDF invoices.'),
  agent(5, '提供天气预报', { name: '天气' }),
  agent(6, 'Translates contracts into Chinese, for members.', { visibility: 'private' }),
  ...Array.from({ length: 30 }, (_, i) =>
    agent(10 + i, `Plays chess and music, variant ${i}.`, { tags: [`t${i % 3}`] }),
  ),
]

const view = ({ record }: IndexedAgent) => record

/** What a caller gets for a text, with all that the engine decides. */
async function find(index: AgentIndex<IndexedAgent>, text: string, { skip = 0, take = 10 } = {}) {
  const { query, corrections, unknown } = await index.read(text, { privateAgents: [6] })
  const vectors = [new Float32Array(DIMENSIONS).fill(1 / Math.sqrt(DIMENSIONS))]
  const found = await index.search(
    { query, vectors },
    { conditions: [], view },
    {
      skip,
      take,
      all: true,
      scoreFactor: ({ number }) => 1 - number / 1000,
      boost: ({ number }) => (number === 12 ? 0.5 : 0),
    },
  )
  const agents = found.ranked.map((hit) => hit.agent)
  return {
    hits: found.ranked.map(({ agent: { number }, ...hit }) => ({ number, ...hit })),
    total: found.total,
    matches: found.matches.map(({ number }) => number).sort((a, b) => a - b),
    evidence: await index.evidence({ query, vectors }, agents),
    corrections,
    suggestions: await index.suggest(unknown),
  }
}

const fill = (index: AgentIndex<IndexedAgent>): void => {
  index.setDimensions(DIMENSIONS)
  for (const each of AGENTS) index.put(each)
  for (const { number } of AGENTS.slice(0, 3))
    index.putVectors(number, packVectors([new Float32Array(DIMENSIONS).fill(number % 2 ? 0.1 : -0.1)]))
}

/** Remembers the threads that are started, to stop them. */
function countThreads() {
  const workers: Worker[] = []
  const thread = startSearchThread(() => {
    const worker = new Worker(PROGRAM)
    workers.push(worker)
    return worker
  })
  return { workers, thread }
}

const engines: TextEngine[] = []
const open = (options: Parameters<typeof createThreadEngine>[0]): TextEngine => {
  const engine = createThreadEngine(options)
  engines.push(engine)
  return engine
}
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close()
})

describe('createThreadEngine', () => {
  const QUERIES = [
    'translate a contract to Chinese',
    'turn a PDF invoice into a spreadsheet',
    'Wettervorhersage für morgen',
    'chess musik',
    'Play chess. Translate my contracts into Chinese.',
    'zzqqxx',
  ]

  it('finds the same as a search in the same thread', async () => {
    const threaded = createAgentIndex<IndexedAgent>({ engine: open({ isStatic: true }) })
    const search = createTextSearch({ encoder: builtInStaticEncoder() })
    const local = createAgentIndex<IndexedAgent>({ engine: createLocalEngine(search) })
    for (const index of [threaded, local]) {
      fill(index)
      index.put(agent(2, 'Forecasts the weather.'))
      index.remove('agent-11')
    }
    for (const text of QUERIES) {
      const found = await find(threaded, text)
      expect(found).toEqual(await find(local, text))
      expect(found.total).toBe(found.matches.length)
    }
    expect(await find(threaded, 'chess', { skip: 20, take: 5 })).toEqual(
      await find(local, 'chess', { skip: 20, take: 5 }),
    )
    expect(threaded.bytes).toEqual(local.bytes)
  })

  it('keeps the agents of several directories apart', async () => {
    const [first, second] = [open({}), open({})].map((engine) => createAgentIndex<IndexedAgent>({ engine }))
    first?.put(agent(1, 'alpha'))
    second?.put(agent(1, 'beta'))
    expect((await find(first as AgentIndex<IndexedAgent>, 'alpha')).total).toBe(1)
    expect((await find(second as AgentIndex<IndexedAgent>, 'alpha')).total).toBe(0)
  })

  it('finds every agent that was put before the search began, while others are put', async () => {
    const index = createAgentIndex<IndexedAgent>({ engine: open({}) })
    const found = Array.from({ length: 200 }, (_, i) => {
      index.put(agent(i, `word${i} shared`))
      return find(index, `word${i}`)
    })
    for (const [i, { hits }] of (await Promise.all(found)).entries()) expect(hits[0]?.number).toBe(i)
  })

  it('starts again when the thread is killed: searches under way finish, and everything is indexed again', async () => {
    const { workers, thread } = countThreads()
    const index = createAgentIndex<IndexedAgent>({ engine: open({ thread, isStatic: true }) })
    const lost = vi.fn()
    index.onLost(lost)
    fill(index)
    const before = await find(index, 'chess')
    const searches = QUERIES.map((text) => find(index, text))
    await workers[0]?.terminate()
    index.put(agent(99, 'Registered while the thread was starting.'))
    await Promise.all(searches)
    expect([lost.mock.calls.length, workers.length]).toEqual([1, 2])
    expect(index.deferred).toBe(AGENTS.length)
    expect((await find(index, 'registered')).hits[0]?.number).toBe(99)
    const { version } = index
    while (index.deferred > 0) await index.indexDeferred(7)
    expect(index.version).toBeGreaterThan(version)
    for (const { number } of AGENTS.slice(0, 3))
      index.putVectors(number, packVectors([new Float32Array(DIMENSIONS).fill(number % 2 ? 0.1 : -0.1)]))
    index.remove('agent-99')
    expect(await find(index, 'chess')).toEqual(before)
  })

  it('says so while the thread stops again and again', async () => {
    const { workers, thread } = countThreads()
    const engine = open({ thread })
    for (const position of [0, 1]) {
      await engine.settled()
      await workers[position]?.terminate()
    }
    await expect(engine.read('x')).rejects.toMatchObject({ name: 'SearchError', code: 'unavailable' })
    const lost = new Promise<void>((resolve) => engine.onLost(resolve))
    await lost
    expect((await engine.read('x')).query.text).toBe('x')
  })

  describe('with a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-index-'))
    const path = join(folder, 'index.bin')
    afterAll(() => rmSync(folder, { recursive: true }))

    const versionOf = ({ number, record }: IndexedAgent): number => number * 1000 + record.description.length
    const openIndex = (options: Parameters<typeof createThreadEngine>[0] = {}) => {
      const engine = open({ isStatic: true, path, ...options })
      return { engine, index: createAgentIndex<IndexedAgent>({ engine, versionOf }) }
    }
    /** A start: all agents are there before anything is indexed. */
    const restart = async (agents: readonly IndexedAgent[], options?: Parameters<typeof createThreadEngine>[0]) => {
      const opened = openIndex(options)
      for (const each of agents) opened.index.put(each, 'later')
      await opened.index.adopt()
      return opened
    }

    it('goes on from what was saved: nothing is indexed again, and the same is found', async () => {
      const { engine, index } = openIndex()
      for (const each of AGENTS) index.put(each)
      index.remove('agent-11')
      expect(await engine.save()).toBe(true)
      const left = AGENTS.filter(({ number }) => number !== 11)
      const again = await restart(left)
      expect(again.index.deferred).toBe(0)
      for (const text of QUERIES) expect(await find(again.index, text)).toEqual(await find(index, text))
      // What changes from here on is the same too.
      for (const each of [index, again.index]) {
        each.put(agent(2, 'Forecasts the weather.'))
        each.put(agent(50, 'Books flights and hotels.'))
        each.remove('agent-12')
      }
      for (const text of [...QUERIES, 'book a flight'])
        expect(await find(again.index, text)).toEqual(await find(index, text))
      expect(await again.engine.save()).toBe(true)
    })

    it('indexes what has changed since, and forgets what was removed', async () => {
      const { engine, index } = openIndex()
      for (const each of AGENTS) index.put(each)
      await engine.save()
      const changed = [...AGENTS.slice(2), agent(2, 'Forecasts the weather.'), agent(60, 'Books hotels.')]
      const { index: again } = await restart(changed)
      expect(again.deferred).toBe(2)
      await again.indexDeferred(10)
      const fresh = createAgentIndex<IndexedAgent>({ encoder: builtInStaticEncoder() })
      for (const each of changed) fresh.put(each)
      for (const text of ['translate a contract to Chinese', 'weather forecast', 'how warm is it tomorrow', 'hotels'])
        expect((await find(again, text)).hits).toEqual((await find(fresh, text)).hits)
    })

    it('has an agent in the end that is put while the file is being written', async () => {
      const { engine, index } = openIndex()
      for (const each of AGENTS) index.put(each)
      const saved = engine.save()
      index.put(agent(70, 'Put while the file was being written.'))
      const again = engine.save()
      await saved
      expect(await again).toBe(true)
      expect((await restart([agent(70, 'Put while the file was being written.')])).index.deferred).toBe(0)
    })

    it.each([
      ['is damaged', () => truncateSync(path, 1000), {}],
      ['belongs to other words', () => {}, { isStatic: false }],
    ])('starts anew if the file %s, and says so', async (_, damage, options) => {
      const { engine, index } = openIndex()
      for (const each of AGENTS) index.put(each)
      await engine.save()
      damage()
      const onRejected = vi.fn()
      const { index: again } = await restart(AGENTS, { onRejected, ...options })
      expect(onRejected).toHaveBeenCalledOnce()
      expect(again.deferred).toBe(AGENTS.length)
      expect((await find(again, 'chess')).total).toBe(0)
      await again.indexDeferred(100)
      expect((await find(again, 'chess')).total).toBe(30)
    })

    it('does not go back to the file if the thread is killed', async () => {
      const { workers, thread } = countThreads()
      const { engine, index } = openIndex({ thread })
      for (const each of AGENTS) index.put(each)
      await engine.save()
      index.remove('agent-2')
      await workers[0]?.terminate()
      await engine.settled().catch(() => undefined)
      expect(index.deferred).toBe(AGENTS.length - 1)
      expect((await engine.versions()).size).toBe(0)
      await index.indexDeferred(100)
      expect((await find(index, 'warm tomorrow rains')).hits.map(({ number }) => number)).not.toContain(2)
      expect(await engine.save()).toBe(true)
      expect((await engine.versions()).size).toBe(AGENTS.length - 1)
    })
  })

  it('reports an agent that cannot be indexed, and goes on', async () => {
    const onProblem = vi.fn()
    const engine = open({ onProblem })
    // @ts-expect-error: no such text comes from an agent index
    engine.put(1, { fields: 7 }, true)
    await engine.settled()
    expect(onProblem).toHaveBeenCalledWith(expect.stringContaining('put: TypeError'))
    expect((await engine.read('zzqqxx')).unknown).toEqual(['zzqqxx'])
  })
})
