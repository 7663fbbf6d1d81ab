import { DirectoryError, parseJson } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { assertWithinQuota, memoryOf } from './quota.js'

describe('memoryOf', () => {
  it('counts values, names and strings', () => {
    expect(memoryOf(null)).toBe(150)
    expect(memoryOf({ name: ['abc', 1] })).toBe(4 * 150 + 'name'.length + 'abc'.length)
  })

  it.each([
    ['nested lists', (i: number) => `${'['.repeat(50)}${i}${']'.repeat(50)}`],
    ['objects of one member', (i: number) => `{"k${i}":0}`],
    ['short strings', (i: number) => `"s${i}"`],
    ['empty objects', () => '{}'],
  ])('is no less than what a document takes: %s', (_, item) => {
    const text = `[${Array.from({ length: 2000 }, (_value, i) => item(i)).join(',')}]`
    const before = process.memoryUsage().heapUsed
    const documents = Array.from({ length: 20 }, () => parseJson(text))
    // Without a collection in between the heap also has garbage, so this is an upper bound.
    const taken = process.memoryUsage().heapUsed - before
    expect(memoryOf(documents[0] ?? null) * 20 * 4).toBeGreaterThan(taken)
  })
})

describe('assertWithinQuota', () => {
  const quota = { agents: 2, bytes: 1000 }
  const refusal = (usage: [number, number], growth: [number, number]): unknown => {
    try {
      const [agents, bytes] = usage
      assertWithinQuota('corp', quota, { agents, bytes }, { agents: growth[0], bytes: growth[1] })
      return undefined
    } catch (error) {
      return error
    }
  }

  it('allows what fits exactly, and what does not grow', () => {
    expect(refusal([1, 500], [1, 500])).toBeUndefined()
    expect(refusal([5, 5000], [0, 0])).toBeUndefined()
    expect(refusal([5, 5000], [0, -1])).toBeUndefined()
  })

  it('names the quota, its value and what to do', () => {
    const error = refusal([2, 0], [1, 10])
    expect(error).toBeInstanceOf(DirectoryError)
    expect(error).toMatchObject({
      code: 'quota_exceeded',
      status: 403,
      message: expect.stringMatching(
        /"corp" may register 2 agents .* would have 3: remove .* operator .*quotas\.agents/,
      ),
      members: { quota: { name: 'agents', limit: 2, used: 2, requested: 1 } },
    })
    expect(refusal([0, 900], [0, 101])).toMatchObject({ members: { quota: { name: 'bytes' } } })
  })
})
