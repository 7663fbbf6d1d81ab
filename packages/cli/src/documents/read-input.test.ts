import { describe, expect, it } from 'vitest'
import { readInput } from './read-input.js'

describe('readInput', () => {
  it('reads pairs: texts, and JSON where it is said', async () => {
    const pairs = ['city=Paris', 'days:=3', 'a=', 'b:=null', 'c:={"d":[1]}', 'url=http://x/?y=z', 'time=10:30']
    expect(await readInput(undefined, pairs)).toEqual({
      city: 'Paris',
      days: 3,
      a: '',
      b: null,
      c: { d: [1] },
      url: 'http://x/?y=z',
      time: '10:30',
    })
    expect(await readInput('[1]', [])).toEqual([1])
    expect(await readInput(undefined, [])).toBeUndefined()
  })

  it('takes names that objects have by themselves as plain names', async () => {
    expect(Object.keys(Object(await readInput(undefined, ['constructor=1', '__proto__=2'])))).toEqual([
      'constructor',
      '__proto__',
    ])
  })

  it.each([
    [['x'], /write name=text or name:=JSON/],
    [['=x'], /write name=text/],
    [['a:=x'], /^a: /],
    [['a=1', 'a=2'], /names a twice/],
  ])('refuses %j', async (pairs, reason) => {
    await expect(readInput(undefined, pairs)).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(reason),
    })
  })
})
