import { describe, expect, it } from 'vitest'
import { withoutSlashes } from './target.js'

describe('an address without the slashes at its end', () => {
  it.each([
    ['https://a.example///', 'https://a.example'],
    ['https://a.example/b/', 'https://a.example/b'],
    ['https://a.example/b', 'https://a.example/b'],
    ['///', ''],
  ])('is read from %s', (address, plain) => expect(withoutSlashes(address)).toBe(plain))

  it('takes no time, however many there are elsewhere', () => {
    const address = `https://a.example${'/'.repeat(250_000)}x`
    expect(withoutSlashes(address)).toBe(address)
  })
})
