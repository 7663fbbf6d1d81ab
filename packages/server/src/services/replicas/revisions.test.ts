import { describe, expect, it } from 'vitest'
import { createRevisions } from './revisions.js'

const never = (): Promise<void> => new Promise(() => {})

/** Two replicas, the second with a count of how often it has caught up. */
function setUp(catchUp: () => Promise<void> = async () => {}) {
  let time = 0
  const monotonic = (): number => ++time
  const one = createRevisions({ monotonic, catchUp: never })
  const caughtUp = { times: 0 }
  const two = createRevisions({
    monotonic,
    catchUp: () => {
      caughtUp.times++
      return catchUp()
    },
  })
  return { one, two, caughtUp }
}

describe('a revision', () => {
  it('is later than every one before, even if the clock stands still', () => {
    const { current } = createRevisions({ monotonic: () => 5, catchUp: never })
    const times = Array.from({ length: 3 }, () => Number.parseInt(current().split('.')[1] ?? '', 36))
    expect(times).toEqual([5000, 5001, 5002])
  })

  it('is known at once to the replica that named it', () => {
    const { one } = setUp()
    expect(one.reach(one.current())).toBeUndefined()
  })

  it('makes another replica catch up, once for all earlier ones', async () => {
    const { one, two, caughtUp } = setUp()
    const [early, late] = [one.current(), one.current()]
    await two.reach(late)
    expect([two.reach(late), two.reach(early), caughtUp.times]).toEqual([undefined, undefined, 1])
    await two.reach(one.current())
    expect(caughtUp.times).toBe(2)
  })

  it('that cannot be reached is an error that says when to repeat the request', async () => {
    const unavailable = expect.objectContaining({ code: 'unavailable', retryAfter: 1 })
    for (const catchUp of [never, () => Promise.reject(new Error('no database'))]) {
      const { one, two } = setUp(catchUp)
      await expect(two.reach(one.current())).rejects.toEqual(unavailable)
    }
  })

  it('that no directory has named is refused', () => {
    const { one } = setUp()
    for (const revision of ['', '7', 'abc.1', 'a234567.1', 'a2345678.-1', 'a2345678.11111111111']) {
      expect(() => one.reach(revision)).toThrow('Min-Revision must be the value of an X-Directory-Revision header')
    }
  })
})
