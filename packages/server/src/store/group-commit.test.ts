import { describe, expect, it } from 'vitest'
import { createGroupCommit } from './group-commit.js'

const done = <T>(value: T): PromiseSettledResult<T> => ({ status: 'fulfilled', value })

/** Records batches; each commits only when `next` is called. */
function heldCommit() {
  const batches: string[][] = []
  const held: (() => void)[] = []
  return {
    batches,
    async next() {
      held.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
    commit: async (batch: string[]) => {
      batches.push(batch)
      await new Promise<void>((resolve) => held.push(resolve))
      return batch.map(done)
    },
  }
}

describe('group commit', () => {
  it('collects the next batch while one commits', async () => {
    const { batches, commit, next } = heldCommit()
    const group = createGroupCommit({ commit, lanes: 1, maxBatch: 100 })
    const results = [group.add('a')]
    await new Promise((resolve) => setImmediate(resolve))
    results.push(group.add('b'), group.add('c'))
    await next()
    await next()
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c'])
    expect(batches).toEqual([['a'], ['b', 'c']])
  })

  it('combines writes of the same tick into one batch, up to the maximum size', async () => {
    const { batches, commit, next } = heldCommit()
    const group = createGroupCommit({ commit, lanes: 1, maxBatch: 2 })
    const results = ['a', 'b', 'c'].map((item) => group.add(item))
    for (let i = 0; i < 3; i++) await next()
    await Promise.all(results)
    expect(batches).toEqual([['a', 'b'], ['c']])
  })

  it('distributes many writes over the lanes', async () => {
    const { batches, commit, next } = heldCommit()
    const group = createGroupCommit({ commit, lanes: 2, maxBatch: 100 })
    const results = Array.from({ length: 64 }, (_, i) => group.add(String(i)))
    for (let i = 0; i < 3; i++) await next()
    await Promise.all(results)
    expect(batches.map((batch) => batch.length)).toEqual([32, 32])
  })

  it('runs items with the same key one after another, in order, without delaying others', async () => {
    const { batches, commit, next } = heldCommit()
    const group = createGroupCommit({ commit, lanes: 2, maxBatch: 100, keyOf: (item: string) => item.slice(0, 1) })
    const results = ['a1', 'a2', 'b1', 'a3'].map((item) => group.add(item))
    for (let i = 0; i < 5; i++) await next()
    await Promise.all(results)
    expect(batches).toEqual([['a1', 'b1'], ['a2'], ['a3']])
  })

  it('settles each item with its own result', async () => {
    const group = createGroupCommit<string, string>({
      commit: async (batch) =>
        batch.map((item) => (item === 'bad' ? { status: 'rejected', reason: new Error('bad') } : done(item))),
      lanes: 1,
      maxBatch: 100,
    })
    const results = await Promise.allSettled([group.add('a'), group.add('bad'), group.add('b')])
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('rejects every item of a batch that failed, and continues with the next batch', async () => {
    let fail = true
    const group = createGroupCommit<string, string>({
      commit: async (batch) => {
        if (fail) throw new Error('no disk')
        return batch.map(done)
      },
      lanes: 1,
      maxBatch: 100,
    })
    const results = await Promise.allSettled([group.add('a'), group.add('b')])
    expect(results.every((result) => result.status === 'rejected')).toBe(true)
    fail = false
    expect(await group.add('c')).toBe('c')
  })

  it('finishes pending items before it closes, and rejects further ones', async () => {
    const { commit, next } = heldCommit()
    const group = createGroupCommit({ commit, lanes: 1, maxBatch: 1 })
    const results = [group.add('a'), group.add('b')]
    const closed = group.close()
    await expect(group.add('c')).rejects.toMatchObject({ code: 'closed' })
    await next()
    await next()
    await closed
    expect(await Promise.all(results)).toEqual(['a', 'b'])
  })
})
