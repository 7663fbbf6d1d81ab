import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.js'
import { isSimpleMap, toJsonSchema } from './simple-map.js'

describe('isSimpleMap', () => {
  it.each<JsonObject>([
    { text: 'string' },
    { type: 'string', text: 'string?' },
    { type: 'array', items: 'string' },
    { constructor: 'any', toString: 'file' },
  ])('AIDIP00-4-06 recognizes a map of names to types: %j', (value) => {
    expect(isSimpleMap(value)).toBe(true)
  })

  it.each<JsonObject>([
    {},
    { type: 'object' },
    { type: 'string?' },
    { type: 'object', properties: {} },
    { text: 'text' },
    { text: 'string??' },
    { text: 5 },
    { text: ['string'] },
  ])('recognizes a JSON Schema: %j', (value) => {
    expect(isSimpleMap(value)).toBe(false)
  })
})

describe('toJsonSchema', () => {
  it('AIDIP00-4-06 requires every name except those with a question mark', () => {
    expect(toJsonSchema({ text: 'string', n: 'integer?', what: 'any', data: 'file?', constructor: 'boolean' })).toEqual(
      {
        type: 'object',
        properties: {
          text: { type: 'string' },
          n: { type: 'integer' },
          what: {},
          data: { type: 'string' },
          constructor: { type: 'boolean' },
        },
        required: ['text', 'what', 'constructor'],
      },
    )
  })

  it('returns a schema unchanged; without one, any value is valid', () => {
    const schema = { type: 'array', items: { type: 'string' } }
    expect(toJsonSchema(schema)).toBe(schema)
    expect(toJsonSchema(undefined)).toEqual({})
    expect(toJsonSchema('string')).toEqual({})
  })
})
