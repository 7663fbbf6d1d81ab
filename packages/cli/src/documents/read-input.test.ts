import { describe, expect, it } from 'vitest'
import { readInput } from './read-input.js'

describe('readInput', () => {
  it('reads pairs: name=text as strings, name:=JSON as JSON', async () => {
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

  it('accepts names of built-in properties', async () => {
    expect(Object.keys(Object(await readInput(undefined, ['constructor=1', '__proto__=2'])))).toEqual([
      'constructor',
      '__proto__',
    ])
  })

  it.each([
    [['x'], /not a NAME=TEXT or NAME:=JSON pair/],
    [['=x'], /not a NAME=TEXT/],
    [['a:=x'], /^a: /],
    [['a=1', 'a=2'], /a is given twice/],
  ])('rejects %j', async (pairs, reason) => {
    await expect(readInput(undefined, pairs)).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(reason),
    })
  })
})
