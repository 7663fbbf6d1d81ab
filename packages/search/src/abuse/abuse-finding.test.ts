import { describe, expect, it } from 'vitest'
import { type AbuseFinding, abuseFactor } from './abuse-finding.js'

const finding = (code: AbuseFinding['code']): AbuseFinding => ({ code, member: '/description', message: 'is odd' })

describe('abuseFactor', () => {
  it('is 1 without findings', () => {
    expect(abuseFactor([])).toBe(1)
  })

  it('counts each kind once and multiplies different kinds', () => {
    const tags = abuseFactor([finding('tag_stuffing')])
    expect(tags).toBeLessThan(1)
    expect(abuseFactor([finding('tag_stuffing'), finding('tag_stuffing')])).toBe(tags)
    expect(abuseFactor([finding('tag_stuffing'), finding('instructions')])).toBeLessThan(tags)
  })
})
