import type { Operation } from '@switchboard/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseOperation, takesArray } from './choose-operation.js'

const operation = (name: string, inputs: Operation['inputs'] = {}): Operation => ({ name, inputs, outputs: {} })
const ONE = [operation('a', { text: 'string' })]
const TWO = [...ONE, operation('b')]

describe('chooseOperation', () => {
  it('removes the member `operation` and nothing else', () => {
    const value = fc.dictionary(
      fc.string().filter((name) => name !== '__proto__' && name !== 'operation'),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(value, fc.constantFrom('a', 'b'), (rest, name) => {
        const body = JSON.parse(JSON.stringify({ ...rest, operation: name }))
        const chosen = chooseOperation(TWO, undefined, body)
        expect(chosen.operation.name).toBe(name)
        expect(chosen.value).toEqual(JSON.parse(JSON.stringify(rest)))
      }),
    )
  })

  it('keeps the member if the only operation declares it, in any form of schema', () => {
    const property = { properties: { operation: { type: 'string' } } }
    const schemas = [
      { operation: 'string', text: 'string' },
      { type: 'object', ...property },
      { allOf: [{}, property] },
      { oneOf: [property] },
      { $ref: '#/$defs/input', $defs: { input: property } },
    ]
    for (const inputs of schemas) {
      const value = { operation: 'multiply' }
      expect(chooseOperation([operation('a', inputs)], undefined, value).value, JSON.stringify(inputs)).toEqual(value)
    }
  })

  it('does not loop on circular references', () => {
    const inputs = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }
    expect(chooseOperation([operation('a', inputs)], undefined, { operation: 'a' }).value).toEqual({})
  })

  it('accepts any input, but no other operation name in the URL, if the agent describes no operations', () => {
    const value = { operation: 'multiply' }
    expect(chooseOperation([], undefined, value)).toMatchObject({ operation: { name: 'invoke' }, value })
    expect(chooseOperation([], 'invoke', {}).operation.name).toBe('invoke')
    expect(() => chooseOperation([], 'other', {})).toThrow('no operation "other"')
  })

  it('does not mistake properties of Object.prototype for members or operations', () => {
    expect(() => chooseOperation(TWO, undefined, {})).toThrow('/operation is required')
    expect(() => chooseOperation(ONE, 'constructor', {})).toThrow('no operation')
  })
})

describe('takesArray', () => {
  it('is true only if the operation is known and takes an array', () => {
    const list = operation('list', { type: ['array', 'null'], items: {} })
    expect(takesArray([list], undefined)).toBe(true)
    expect(takesArray([list, ...ONE], 'list')).toBe(true)
    expect(takesArray([list, ...ONE], 'a')).toBe(false)
    expect(takesArray([list, ...ONE], undefined)).toBe(false)
    // A simple map with a member named `type`.
    expect(takesArray([operation('map', { type: 'array', text: 'string' })], undefined)).toBe(false)
  })
})
