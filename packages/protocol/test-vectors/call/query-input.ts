import type { JsonObject, JsonValue } from '../../src/index.js'

/** The description of the input that the queries are read for. */
export const QUERY_INPUTS: JsonObject = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    flag: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
  },
  allOf: [{ $ref: '#/$defs/paging' }],
  $defs: { paging: { type: 'object', properties: { limit: { type: 'integer' } } } },
}

/** Queries, and the inputs that they stand for. */
export const QUERY_INPUT_VECTORS: readonly (readonly [query: string, input: { [name: string]: JsonValue }])[] = [
  ['text=hello%20there', { text: 'hello there' }],
  ['text=1&count=1&ratio=-2.5&flag=true', { text: '1', count: 1, ratio: -2.5, flag: true }],
  ['flag=false', { flag: false }],
  ['tags=a', { tags: ['a'] }],
  ['tags=a&tags=b', { tags: ['a', 'b'] }],
  ['limit=10', { limit: 10 }],
  ['other=5', { other: '5' }],
  ['text=', { text: '' }],
]
