import { afterEach, describe, expect, it } from 'vitest'
import { StoreError } from './store-error.js'
import { createStoreHealth, type StoreFault, type StoreHealth } from './store-health.js'

type Found = Pick<StoreFault, 'kind' | 'reason'> | undefined

const GONE: Found = { kind: 'unreachable', reason: 'connection refused' }
const FULL: Found = { kind: 'read_only', reason: 'no space left' }

let end = (): void => {}
afterEach(() => end())

/** A store whose checks find what `state.found` says. */
function supervised() {
  const state: { found: Found; checks: number; events: string[] } = { found: undefined, checks: 0, events: [] }
  const health = createStoreHealth({
    now: Date.now,
    random: Math.random,
    onFault: ({ kind }) => state.events.push(kind),
    onRecovery: ({ kind }) => state.events.push(`not ${kind}`),
    onFailure: (reason) => state.events.push(reason),
  })
  let cut = (_error: Error): void => {}
  end = health.supervise({
    async check() {
      state.checks++
      return state.found
    },
    cut: () => cut(new StoreError('unavailable', 'cut off')),
  })
  const hang = () =>
    new Promise<never>((_, reject) => {
      cut = reject
    })
  return { health, state, hang }
}

const fail = (health: StoreHealth): Promise<unknown> =>
  health.run(() => Promise.reject(new StoreError('unavailable', 'broken'))).catch((error: unknown) => error)

describe('the health of a store', () => {
  it('reports one fault for many failed operations, and one recovery', async () => {
    const { health, state } = supervised()
    state.found = GONE
    await Promise.all(Array.from({ length: 20 }, () => fail(health)))
    await expect.poll(() => health.fault).toMatchObject(GONE)
    await expect.poll(() => state.checks).toBeGreaterThan(2)
    state.found = undefined
    await expect.poll(() => health.fault).toBeUndefined()
    expect(state.events).toEqual(['unreachable', 'not unreachable'])
  })

  it('runs nothing while the store is unreachable, and says when it may work again', async () => {
    const { health, state } = supervised()
    state.found = GONE
    await fail(health)
    await expect.poll(() => health.fault).toBeDefined()
    let isRun = false
    const refused = await health
      .run(async () => {
        isRun = true
      })
      .catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'unavailable', retryAfterMs: expect.any(Number) })
    expect(isRun).toBe(false)
  })

  it('refuses only writes while the store can be read', async () => {
    const { health, state } = supervised()
    state.found = FULL
    await fail(health)
    await expect.poll(() => health.fault).toMatchObject(FULL)
    expect(() => health.assertWritable()).toThrow('no space left')
    expect(await health.run(async () => 'read')).toBe('read')
  })

  it('reports a failed operation once if the store works, and no fault', async () => {
    const { health, state } = supervised()
    for (let i = 0; i < 3; i++) {
      await fail(health)
      await expect.poll(() => state.checks).toBe(i + 1)
    }
    expect(health.fault).toBeUndefined()
    expect(state.events).toEqual(['broken'])
  })

  it('ignores errors that are not the fault of the store', async () => {
    const { health, state } = supervised()
    await expect(health.run(() => Promise.reject(new StoreError('invalid', 'bad text')))).rejects.toThrow('bad text')
    expect(state.checks).toBe(0)
  })

  it('ends operations that wait for a store that no longer responds', async () => {
    const { health, state, hang } = supervised()
    state.found = GONE
    await expect(health.run(hang)).rejects.toThrow('cut off')
    expect(state.events).toEqual(['unreachable'])
  })
})
