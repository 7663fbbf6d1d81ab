import { describe, expect, it } from 'vitest'
import { RESERVED_MEMBERS_VECTORS } from '../../test-vectors/call/reserved-members.js'
import { declaresMember } from './member-schemas.js'
import { takeReserved } from './reserved-members.js'

describe('takeReserved', () => {
  it.each(RESERVED_MEMBERS_VECTORS)('$title', ({ inputs, input, reserved, rest }) => {
    expect(takeReserved(input, inputs)).toEqual({ reserved: { stream: false, ...reserved }, rest })
  })

  it('rejects an identifier that is not a string', () => {
    expect(() => takeReserved({ sessionId: 1 }, {})).toThrow('/sessionId must be a string')
    expect(() => takeReserved({ taskId: null }, {})).toThrow('/taskId must be a string')
  })

  it('leaves an input unchanged that is not an object', () => {
    for (const input of [null, 'stream', 1, ['stream']]) {
      expect(takeReserved(input, {})).toEqual({ reserved: { stream: false }, rest: input })
    }
  })
})

describe('declaresMember', () => {
  it('terminates on circular references', () => {
    expect(declaresMember({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, 'stream')).toBe(false)
    expect(declaresMember({ $ref: '#' }, 'stream')).toBe(false)
  })

  it('does not mistake names of Object.prototype for members', () => {
    expect(declaresMember({ properties: {} }, 'constructor')).toBe(false)
    expect(declaresMember({ $ref: '#/constructor' }, 'name')).toBe(false)
  })

  it('takes time linear in the schema, however its parts refer to each other', () => {
    const parts = Array.from({ length: 2000 }, () => ({ $ref: '#/$defs/a' }))
    expect(declaresMember({ allOf: parts, $defs: { a: { allOf: parts } } }, 'stream')).toBe(false)
  })
})
