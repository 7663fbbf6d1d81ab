import { setImmediate as turn } from 'node:timers/promises'
import { readRecord } from '@switchboard/protocol'
import { createAgentIndex, SearchError, type TextEngine } from '@switchboard/search'
import { afterEach, expect, it, vi } from 'vitest'
import type { Agent } from '../registry/catalog.js'
import { createWordIndexing } from './word-indexing.js'

afterEach(() => void vi.useRealTimers())

const agent = (number: number) => {
  const document = { name: `Agent ${number}`, description: 'x', capabilities: [], endpoint: 'https://a.example/' }
  return { number, status: 'active', record: readRecord('aidip', document, `agent-${number}`) } as Agent
}

it('waits for an engine that fails, without a rejection that nobody handles, and then indexes everything', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  const puts: number[] = []
  let isDown = true
  const engine = {
    put: (number: number) => void puts.push(number),
    settled: () => (isDown ? Promise.reject(new SearchError('unavailable', 'down')) : Promise.resolve()),
    versions: async () => new Map(),
    save: vi.fn(async () => true),
    onLost() {},
  } as unknown as TextEngine
  const index = createAgentIndex<Agent>({ engine })
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
  expect(engine.save).toHaveBeenCalled()
  indexing.stop()
  process.off('unhandledRejection', unhandled)
  expect([unhandled, onError].map(({ mock }) => mock.calls)).toEqual([[], []])
})
