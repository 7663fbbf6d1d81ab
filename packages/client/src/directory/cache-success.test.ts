import { expect, it } from 'vitest'
import { cacheSuccess } from './cache-success.js'

it('shares one result among concurrent and later callers', async () => {
  const seen: string[] = []
  const read = cacheSuccess(async (name: string) => {
    seen.push(name)
    return name
  })
  expect(await Promise.all([read('a'), read('b')])).toEqual(['a', 'a'])
  expect([await read('c'), seen]).toEqual(['a', ['a']])
})

it('tries again after a failure', async () => {
  let attempts = 0
  const read = cacheSuccess(async () => {
    if (++attempts === 1) throw new Error('down')
    return attempts
  })
  await expect(read(undefined)).rejects.toThrow('down')
  expect([await read(undefined), await read(undefined)]).toEqual([2, 2])
})
