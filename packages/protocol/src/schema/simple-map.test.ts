import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.js'
import { isSimpleMap, toJsonSchema } from './simple-map.js'

describe('isSimpleMap', () => {
  it.each<JsonObject>([
    { text: 'string' },
    { type: 'string', text: 'string?' },
    { type: 'array', items: 'string' },
    { constructor: 'any', toString: 'file' },
  ])('AIDIP00-4-06 sees a map of names to types in %j', (value) => {
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
  ])('sees a JSON Schema in %j', (value) => {
    expect(isSimpleMap(value)).toBe(false)
  })
})

describe('toJsonSchema', () => {
  it('AIDIP00-4-06 requires every name but those with a question mark', () => {
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

  it('leaves a schema as it is; without one, any value fits', () => {
    const schema = { type: 'array', items: { type: 'string' } }
    expect(toJsonSchema(schema)).toBe(schema)
    expect(toJsonSchema(undefined)).toEqual({})
    expect(toJsonSchema('string')).toEqual({})
  })
})
