import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { createStopInTime, type StopInTime } from './stop-in-time.js'

const hang = (): Promise<never> => new Promise(() => {})

let events: string[]
let stop: StopInTime
beforeEach(() => {
  events = []
  stop = createStopInTime({
    totalMs: 200,
    onCutOff: (part) => events.push(`cut off: ${part}`),
    onError: (part, error) => events.push(`${part}: ${error}`),
  })
})

describe('createStopInTime', () => {
  it('waits for parts that stop', async () => {
    await stop('store', async () => {
      await sleep(20)
      events.push('stopped')
    })
    expect(events).toEqual(['stopped'])
  })

  it('cuts off a part at its own limit, and continues after a part that fails', async () => {
    await stop('model', hang, 10)
    await stop('follower', () => Promise.reject(new Error('unreachable')))
    await stop('trail', () => {
      throw new Error('full')
    })
    await stop('store', () => events.push('stopped'))
    expect(events).toEqual(['cut off: model', 'follower: Error: unreachable', 'trail: Error: full', 'stopped'])
  })

  it('has one limit for all parts together', async () => {
    const started = performance.now()
    for (const part of ['a', 'b', 'c', 'd', 'e']) await stop(part, hang)
    expect(events).toHaveLength(5)
    expect(performance.now() - started).toBeLessThan(900)
  })
})
