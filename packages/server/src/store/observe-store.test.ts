import { describe, expect, it } from 'vitest'
import { observeStore } from './observe-store.js'
import { StoreError } from './store-error.js'

function observed(write: () => Promise<string>) {
  const reported: string[] = []
  const { store, pendingWrites } = observeStore({ write, limits: { read: async () => [] } }, (operation, ms, isOk) =>
    reported.push(`${operation} ${isOk ? 'ok' : 'error'} ${ms >= 0}`),
  )
  return { store, pendingWrites, reported }
}

describe('observeStore', () => {
  it('reports operations by name, those of a part with its name in front', async () => {
    const { store, reported } = observed(async () => 'done')
    expect(await store.write()).toBe('done')
    await store.limits.read()
    expect(reported).toEqual(['write ok true', 'limits.read ok true'])
  })

  it.each([
    [new StoreError('unavailable', 'gone'), 'error'],
    [new Error('a bug'), 'error'],
    [new StoreError('invalid', 'a NUL'), 'ok'],
    [new StoreError('closed', 'closed'), 'ok'],
  ])('passes on %s, as a fault of the store only if it is one', async (error, outcome) => {
    const { store, reported } = observed(() => Promise.reject(error))
    await expect(store.write()).rejects.toBe(error)
    expect(reported).toEqual([`write ${outcome} true`])
  })

  it('counts writes that are not durable yet', async () => {
    let end = (): void => {}
    const { store, pendingWrites } = observed(
      () =>
        new Promise((resolve) => {
          end = () => resolve('done')
        }),
    )
    const written = store.write()
    expect(pendingWrites()).toBe(1)
    end()
    await written
    expect(pendingWrites()).toBe(0)
  })
})
