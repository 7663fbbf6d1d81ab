// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../json.js'
import { checkPublisherSchema, createPublisherSchemas } from '../publisher-schema.js'

const { check } = createPublisherSchemas()

/** Schema, valid values, invalid values. */
const CASES: [string, JsonObject, JsonValue[], JsonValue[]][] = [
  ['type', { type: 'integer' }, [1, 1.0, -0, 1e300], [1.5, '1', null, true]],
  ['types', { type: ['string', 'null'] }, ['', null], [0, false, [], {}]],
  ['object is neither an array nor null', { type: 'object' }, [{}], [[], null]],
  ['nullable beside a type', { type: 'string', nullable: true }, ['a', null], [1]],
  ['nullable beside an enum', { enum: ['a'], nullable: true }, ['a', null], ['b']],
  ['nullable beside a reference', { allOf: [{ type: 'object' }], nullable: true }, [{}, null], ['b']],
  ['the type "any" of draft-03', { type: ['any'] }, ['a', null, 1, {}], []],
  ['the type "file" of Swagger 2', { type: 'file' }, ['a'], [null, 1, {}]],
  ['exclusive limits of draft-04', { minimum: 1, exclusiveMinimum: true, maximum: 3 }, [1.1, 3], [1, 3.1]],
  ['inclusive limits of draft-04', { maximum: 3, exclusiveMaximum: false }, [3], [3.1]],
  ['an exclusive limit of draft-04 without its limit', { exclusiveMaximum: true }, [1e9], []],
  ['required in the style of draft-03', { properties: { a: { required: true } } }, [{}, { a: 1 }], []],
  ['keywords that are null', { not: null, items: null, enum: null, minimum: null, const: 1 }, [1], [2]],
  [
    'a $ref that is null',
    { $schema: 'http://json-schema.org/draft-07/schema#', $ref: null, type: 'string' },
    ['a'],
    [1],
  ],
  ['the constant null', { const: null }, [null], [0, '']],
  ['an empty map as PHP writes it', { properties: [], additionalProperties: false }, [{}], [{ a: 1 }]],
  [
    'enum compares deeply',
    { enum: [{ a: [1, { b: 2 }] }, 'x', null] },
    [{ a: [1, { b: 2 }] }, 'x', null],
    [{ a: [1] }, {}, 'y'],
  ],
  ['const', { const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1 }, null]],
  ['multipleOf with fractions', { multipleOf: 0.1 }, [0.3, 1.1, 0, 'x'], [0.35, 0.05]],
  ['multipleOf with whole numbers', { multipleOf: 3 }, [9, -3, 3e20], [10, 1e-9]],
  ['limits', { minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, 'x'], [0.9, 3]],
  ['exclusive limits', { exclusiveMinimum: 1, maximum: 3 }, [3, 1.1], [1, 3.1]],
  ['lengths in characters', { minLength: 2, maxLength: 3 }, ['🙂🙂', '🙂🙂🙂', 'abc', 5], ['🙂', 'abcd', '']],
  ['pattern anywhere in the text', { pattern: 'b+' }, ['abc', 5], ['ac', '']],
  ['pattern with anchors', { pattern: '^\\d{3}$' }, ['123'], ['1234', '12\n']],
  ['format', { format: 'email' }, ['a@b.example', 5], ['a', 'a@']],
  ['date-time', { format: 'date-time' }, ['2026-05-08T00:00:00Z'], ['2026-05-08', 'x']],
  ['uri and url', { allOf: [{ format: 'uri' }, { format: 'url' }] }, ['https://a.example/'], ['a', 'urn:x']],
  ['int32', { format: 'int32' }, [5, 'x'], [2 ** 40, 1.5]],
  ['unknown format', { format: 'own' }, ['x'], []],
  ['item counts', { minItems: 1, maxItems: 2 }, [[1], [1, 2], 'x'], [[], [1, 2, 3]]],
  ['member counts', { minProperties: 1, maxProperties: 2 }, [{ a: 1 }, []], [{}, { a: 1, b: 1, c: 1 }]],
  [
    'required considers own members only',
    { required: ['constructor', 'toString'] },
    [{ constructor: 1, toString: 1 }, []],
    [{}, { constructor: 1 }],
  ],
  [
    'properties named like those of Object.prototype',
    { properties: { constructor: { type: 'string' } } },
    [{}, { constructor: 'a' }],
    [{ constructor: 1 }],
  ],
  [
    'additionalProperties',
    { properties: { a: {} }, patternProperties: { '^x': {} }, additionalProperties: { type: 'null' } },
    [{ a: 1, x1: 1, b: null }],
    [{ b: 1 }],
  ],
  [
    'patternProperties beside properties',
    { properties: { ab: { minimum: 1 } }, patternProperties: { a: { maximum: 3 } } },
    [{ ab: 2 }],
    [{ ab: 0 }, { ab: 4 }, { xa: 4 }],
  ],
  ['propertyNames', { propertyNames: { maxLength: 2 } }, [{ ab: 1 }, 'abc'], [{ abc: 1 }]],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }, [{ b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
  ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }, [{}, { a: 1, b: 1 }], [{ a: 1 }]],
  [
    'dependencies of older drafts',
    { dependencies: { a: ['b'], c: { required: ['d'] } } },
    [
      { a: 1, b: 1 },
      { c: 1, d: 1 },
    ],
    [{ a: 1 }, { c: 1 }],
  ],
  ['items', { items: { type: 'string' } }, [[], ['a'], 'x'], [['a', 1]]],
  [
    'prefixItems and the rest',
    { prefixItems: [{ type: 'string' }, {}], items: false },
    [['a'], ['a', 1], []],
    [[1], ['a', 1, 2]],
  ],
  [
    'tuples of older drafts',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'string' }],
      additionalItems: { type: 'null' },
    },
    [['a', null]],
    [['a', 1]],
  ],
  ['contains', { contains: { type: 'string' } }, [['a'], [1, 'a'], 'x'], [[], [1]]],
  [
    'contains with counts',
    { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    [
      [1, 1],
      [1, 1, 1, 2],
    ],
    [[1], [1, 1, 1, 1]],
  ],
  ['contains with no minimum', { contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
  ['allOf', { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
  ['anyOf', { anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['a', 5, null], [4]],
  ['oneOf', { oneOf: [{ minimum: 5 }, { multipleOf: 2 }] }, [5, 2], [6, 3]],
  ['not', { not: { type: 'string' } }, [1], ['a']],
  [
    'if, then and else',
    { if: { type: 'string' }, then: { minLength: 2 }, else: { minimum: 2 } },
    ['ab', 2, null],
    ['a', 1],
  ],
  ['a condition without branches', { if: false }, [1, 'a'], []],
  ['then without a condition', { then: false }, [1], []],
  ['boolean schemas', { properties: { a: false, b: true } }, [{}, { b: 1 }], [{ a: 1 }]],
  [
    'a reference beside other keywords',
    { $ref: '#/$defs/a', maximum: 5, $defs: { a: { minimum: 1 } } },
    [1, 5],
    [0, 6],
  ],
  ['a reference to false', { properties: { a: { $ref: '#/$defs/no' } }, $defs: { no: false } }, [{}], [{ a: 1 }]],
  [
    'recursion',
    { properties: { next: { $ref: '#' } }, additionalProperties: false },
    [{ next: { next: {} } }],
    [{ next: { nest: {} } }],
  ],
  [
    'pointers inside an $id',
    {
      $defs: { a: { $id: 'urn:a', $ref: '#/$defs/b', $defs: { b: { type: 'string' } } }, b: { type: 'number' } },
      $ref: '#/$defs/a',
    },
    ['x'],
    [1],
  ],
  [
    'unevaluatedProperties after allOf',
    { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
    [{ a: 1 }],
    [{ b: 1 }],
  ],
  [
    'unevaluatedProperties after the matching branch',
    {
      anyOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, { properties: { b: {} } }],
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }, { b: 1 }],
    [{ a: 2 }, { a: 1, c: 1 }],
  ],
  [
    'unevaluatedProperties after oneOf',
    {
      oneOf: [
        { properties: { a: { const: 1 } }, required: ['a'] },
        { properties: { b: { const: 1 } }, required: ['b'] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }],
    [{ a: 1, c: 1 }],
  ],
  [
    'unevaluatedProperties after if',
    {
      if: { properties: { a: { const: 1 } }, required: ['a'] },
      then: { properties: { b: {} } },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }, {}],
    [{ a: 2 }, { b: 1 }],
  ],
  [
    'unevaluatedProperties through a reference',
    { $ref: '#/$defs/a', unevaluatedProperties: { type: 'null' }, $defs: { a: { properties: { a: {} } } } },
    [{ a: 1, b: null }],
    [{ b: 1 }],
  ],
  [
    'unevaluatedProperties and not',
    { not: { not: { properties: { a: {} } } }, unevaluatedProperties: false },
    [{}],
    [{ a: 1 }],
  ],
  [
    'unevaluatedProperties inside unevaluatedProperties',
    { allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: false },
    [{ a: 1 }],
    [],
  ],
  [
    'unevaluatedItems',
    { prefixItems: [{}], contains: { type: 'string' }, unevaluatedItems: false },
    [[1, 'a']],
    [[1, 2, 'a']],
  ],
]

describe('a schema', () => {
  it.each(CASES)('%s', (_, schema, right, wrong) => {
    expect(checkPublisherSchema(schema, '')).toEqual([])
    for (const value of right) expect(check(schema, value), JSON.stringify(value)).toEqual([])
    for (const value of wrong) expect(check(schema, value), JSON.stringify(value)).not.toEqual([])
  })
})

describe('issues', () => {
  it('of alternatives are reported together', () => {
    expect(check({ anyOf: [{ type: 'string' }, { type: 'null' }] }, 5)).toEqual([
      { at: '', message: 'must be a string, or must be null' },
    ])
    expect(check({ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3)[0]?.message).toContain('matches several')
  })

  it('with member names are reported at the member', () => {
    expect(check({ propertyNames: { maxLength: 2 } }, { abc: 1 })).toEqual([
      { at: '/abc', message: 'is not an allowed name: it must have at most 2 characters' },
    ])
  })
})
