import { describe, expect, it } from 'vitest'
import { siteIdOf } from './site.js'

describe('siteIdOf', () => {
  const ids = Array.from({ length: 1000 }, (_, i) => siteIdOf(new URL(`https://agents-${i}.example/`)))

  it('gives every site its own id, the same each time', () => {
    expect(new Set(ids).size).toBe(1000)
    expect(siteIdOf(new URL('https://agents-0.example'))).toBe(ids[0])
  })

  it('never starts with a hyphen, so that the id can be given to `crawl --remove`', () => {
    expect(ids.filter((id) => id.startsWith('-'))).toEqual([])
  })
})
