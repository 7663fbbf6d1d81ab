import { describe, expect, it } from 'vitest'
import { withoutTrailingSlashes } from './target.js'

describe('withoutTrailingSlashes', () => {
  it.each([
    ['https://a.example///', 'https://a.example'],
    ['https://a.example/b/', 'https://a.example/b'],
    ['https://a.example/b', 'https://a.example/b'],
    ['///', ''],
  ])('normalises %s', (address, plain) => expect(withoutTrailingSlashes(address)).toBe(plain))

  it('takes linear time with many slashes in the middle', () => {
    const address = `https://a.example${'/'.repeat(250_000)}x`
    expect(withoutTrailingSlashes(address)).toBe(address)
  })
})
