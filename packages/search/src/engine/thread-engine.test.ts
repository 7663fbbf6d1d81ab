import { mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import {
  type AgentIndex,
  builtInStaticEncoder,
  createAgentIndex,
  createThreadEngine,
  startSearchThread,
  type TextEngine,
} from '@switchboard/search'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import {
  AGENTS,
  agent,
  fill,
  find,
  localIndex,
  QUERIES,
  type TestAgent,
  testEngine,
  vectorsOf,
  versionOf,
} from '../../test/engine-suite.js'

const PROGRAM = new URL('../../dist/engine/search-thread.js', import.meta.url)
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
  testEngine(() => createThreadEngine({ isStatic: true }))

  it('uses as much memory as a search in the same thread', async () => {
    const [index, local] = [createAgentIndex<TestAgent>({ engine: open({ isStatic: true }) }), localIndex()]
    for (const each of [index, local]) fill(each)
    await find(index, 'chess')
    await find(local, 'chess')
    expect(index.bytes).toEqual(local.bytes)
  })

  it('keeps the agents of several directories apart', async () => {
    const [first, second] = [open({}), open({})].map((engine) => createAgentIndex<TestAgent>({ engine }))
    first?.put(agent(1, 'alpha'))
    second?.put(agent(1, 'beta'))
    expect((await find(first as AgentIndex<TestAgent>, 'alpha')).total).toBe(1)
    expect((await find(second as AgentIndex<TestAgent>, 'alpha')).total).toBe(0)
  })

  it('starts again when the thread is killed: searches under way finish, and everything is indexed again', async () => {
    const { workers, thread } = countThreads()
    const index = createAgentIndex<TestAgent>({ engine: open({ thread, isStatic: true }) })
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
    for (const { number } of AGENTS.slice(0, 3)) index.putVectors(number, vectorsOf(number))
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

    const openIndex = (options: Parameters<typeof createThreadEngine>[0] = {}) => {
      const engine = open({ isStatic: true, path, ...options })
      return { engine, index: createAgentIndex<TestAgent>({ engine, versionOf }) }
    }
    /** A start: all agents are there before anything is indexed. */
    const restart = async (agents: readonly TestAgent[], options?: Parameters<typeof createThreadEngine>[0]) => {
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
        each.put(agent(2, 'Forecasts the weather.', {}, 2))
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
      const changed = [...AGENTS.slice(2), agent(2, 'Forecasts the weather.', {}, 2), agent(60, 'Books hotels.')]
      const { index: again } = await restart(changed)
      expect(again.deferred).toBe(2)
      await again.indexDeferred(10)
      const fresh = createAgentIndex<TestAgent>({ encoder: builtInStaticEncoder() })
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
