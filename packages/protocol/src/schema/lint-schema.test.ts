import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.js'
import { checkPublisherSchema, lintSchema } from './publisher-schema.js'

const advice = (schema: JsonObject): string[] => {
  expect(checkPublisherSchema(schema, '')).toEqual([])
  return lintSchema(schema).map(({ at, message }) => `${at} ${message}`)
}

describe('lintSchema', () => {
  it.each<[JsonObject, string]>([
    [
      { properties: { a: { type: 'any' } } },
      '/properties/a/type "any" is not a type of JSON Schema: leave out "type" to allow any value',
    ],
    [{ items: { type: ['file'] } }, '/items/type "file" is not a type of JSON Schema: it is read as "string"'],
    [
      { properties: { a: { required: true } } },
      '/properties/a/required is ignored: name the member in "required" of the object',
    ],
    [{ exclusiveMinimum: true }, '/exclusiveMinimum is ignored without "minimum"'],
    [{ exclusiveMaximum: true }, '/exclusiveMaximum is ignored without "maximum"'],
    [{ $defs: { a: { format: 'phone' } } }, '/$defs/a/format "phone" is not a known format and is not checked'],
    [{ type: 'string', minLenght: 3 }, '/minLenght is not a keyword of JSON Schema and is ignored'],
    [
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { a: { $ref: '#/definitions/a', description: 'A.', minLength: 1 } },
        definitions: { a: { type: 'string' } },
      },
      '/properties/a/minLength is ignored: in draft-07, $ref overrides the keywords beside it',
    ],
  ])('reports what is ignored in %j', (schema, expected) => {
    expect(advice(schema)).toEqual([expected])
  })

  it.each<[string, JsonObject]>([
    ['a simple map', { text: 'string', file: 'file', rest: 'any?' }],
    ['an ordinary schema', { type: 'object', properties: { a: { type: 'string', format: 'email' } }, required: ['a'] }],
    ['limits of draft-04', { minimum: 1, exclusiveMinimum: true }],
    [
      'annotations, extensions and formats without a rule',
      { title: 'A', example: 1, 'x-order': 1, format: 'password' },
    ],
    ['keywords beside $ref in 2020-12', { $ref: '#/$defs/a', minLength: 1, $defs: { a: {} } }],
    ['keywords that are null', { type: 'string', pattern: null }],
  ])('has no advice on %s', (_, schema) => {
    expect(advice(schema)).toEqual([])
  })
})
