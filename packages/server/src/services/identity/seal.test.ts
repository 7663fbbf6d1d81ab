import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSeal } from './seal.js'

describe('seal', () => {
  const seal = createSeal('a secret for the tests')

  it('decrypts any text that it encrypted', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, about) => {
        expect(seal.open(seal.close(text, about), about)).toBe(text)
      }),
    )
  })

  it('encrypts the same text differently each time, and never stores it as plain text', () => {
    const [one, two] = [seal.close('token-123456', 'x'), seal.close('token-123456', 'x')]
    expect(one).not.toBe(two)
    expect(Buffer.from(one.slice(2), 'base64url').toString('latin1')).not.toContain('token-123456')
  })

  it('does not decrypt with a different `about` or secret, or after the text was altered', () => {
    const sealed = seal.close('text', 'credential a')
    expect(seal.open(sealed, 'credential b')).toBeUndefined()
    expect(createSeal('another secret for the tests').open(sealed, 'credential a')).toBeUndefined()
    for (let i = 0; i < sealed.length; i++) {
      const changed = sealed.slice(0, i) + (sealed[i] === 'A' ? 'B' : 'A') + sealed.slice(i + 1)
      const same = Buffer.from(changed.slice(2), 'base64url').equals(Buffer.from(sealed.slice(2), 'base64url'))
      if (!same || i < 2) expect(seal.open(changed, 'credential a'), changed).toBeUndefined()
    }
    for (const malformed of ['', '1.', '1.AAAA', '2.', 'x'.repeat(99)]) {
      expect(seal.open(malformed, 'credential a')).toBeUndefined()
    }
  })
})
