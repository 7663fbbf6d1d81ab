import { Worker } from 'node:worker_threads'
import {
  type AgentIndex,
  createAgentIndex,
  createThreadEngine,
  type IndexedAgent,
  startSearchThread,
  type TextEngine,
} from '@switchboard/search'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { AGENTS, agent, fill, find, QUERIES, testEngine, vectorsOf } from '../../test/engine-suite.js'

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

  it('keeps the agents of several directories apart', async () => {
    const [first, second] = [open({}), open({})].map((engine) => createAgentIndex<IndexedAgent>({ engine }))
    first?.put(agent(1, 'alpha'))
    second?.put(agent(1, 'beta'))
    expect((await find(first as AgentIndex<IndexedAgent>, 'alpha')).total).toBe(1)
    expect((await find(second as AgentIndex<IndexedAgent>, 'alpha')).total).toBe(0)
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
