import { setImmediate as turn } from 'node:timers/promises'
import { readRecord } from '@switchboard/protocol'
import {
  createAgentIndex,
  createThreadEngine,
  type IndexedAgent,
  SearchError,
  type TextEngine,
} from '@switchboard/search'
import { afterEach, expect, it, vi } from 'vitest'
import { createWordIndexing } from './word-indexing.js'

afterEach(() => void vi.useRealTimers())

const agent = (number: number): IndexedAgent => {
  const document = { name: `Agent ${number}`, description: 'x', capabilities: [], endpoint: 'https://a.example/' }
  return { number, status: 'active', record: readRecord('aidip', document, `agent-${number}`) }
}

it('waits for an engine that fails, without a rejection that nobody handles, and then indexes everything', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  const puts: number[] = []
  let isDown = true
  const working = createThreadEngine()
  const save = vi.fn(async () => true)
  const engine: TextEngine = {
    ...working,
    put: (number) => void puts.push(number),
    settled: () => (isDown ? Promise.reject(new SearchError('unavailable', 'down')) : Promise.resolve()),
    versions: async () => new Map(),
    save,
  }
  const index = createAgentIndex<IndexedAgent>({ engine })
  for (let number = 0; number < 100; number++) index.put(agent(number), 'later')
  const onError = vi.fn()
  const indexing = createWordIndexing({ index, engine, onError })
  indexing.start()
  for (let i = 0; i < 10; i++) await turn()
  // It tried once, and did not spin.
  expect(puts.length).toBeLessThanOrEqual(20)
  isDown = false
  await vi.advanceTimersByTimeAsync(1000)
  for (let i = 0; i < 10; i++) await turn()
  expect(index.deferred).toBe(0)
  expect(save).toHaveBeenCalled()
  indexing.stop()
  await working.close()
  process.off('unhandledRejection', unhandled)
  expect([unhandled, onError].map(({ mock }) => mock.calls)).toEqual([[], []])
})
