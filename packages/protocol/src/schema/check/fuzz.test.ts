// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonValue } from '../../../test/arbitraries.js'
import { within } from '../../../test/cpu-time.js'
import type { JsonObject, JsonValue } from '../../json.js'
import { checkPublisherSchema, createPublisherSchemas } from '../publisher-schema.js'

const { check } = createPublisherSchemas()
const fits = (schema: JsonObject, value: JsonValue): boolean => check(schema, value).length === 0

describe('random schemas', () => {
  const name = fc.constantFrom('a', 'b', 'constructor', '0')
  const count = fc.nat(3)
  // Leaves out the keywords that Ajv handles differently: for unevaluatedProperties and unevaluatedItems it also counts
  // branches that do not match, and with prefixItems it accepts an empty array for `contains`. check.test.ts tests these.
  const schema: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject; any: JsonValue }>((tie) => ({
    any: fc.oneof({ weight: 1, arbitrary: fc.boolean() }, { weight: 6, arbitrary: tie('schema') }),
    schema: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom<JsonObject[]>(
        {},
        { type: 'string' },
        { type: ['number', 'null'] },
        { type: 'object' },
        { type: 'array' },
        { required: ['a'] },
        { minimum: 1 },
        { const: 1 },
        { maxLength: 1 },
      ),
      fc.record(
        {
          type: fc.constantFrom<JsonValue[]>('string', 'object', 'array', ['integer', 'string', 'object']),
          enum: fc.array(jsonValue, { minLength: 1, maxLength: 3 }),
          minimum: count,
          exclusiveMaximum: count,
          minLength: count,
          maxItems: count,
          minItems: count,
          uniqueItems: fc.boolean(),
          maxProperties: count,
          minProperties: count,
          required: fc.uniqueArray(name),
          dependentRequired: fc.dictionary(name, fc.uniqueArray(name), { noNullPrototype: true }),
          pattern: fc.constantFrom('a', '^.$', '[0-9]+'),
          format: fc.constantFrom('email', 'date', 'ipv4', 'int32'),
          $ref: fc.constantFrom('#/$defs/a', '#/$defs/b', '#'),
        },
        { requiredKeys: [], noNullPrototype: true },
      ) as fc.Arbitrary<JsonObject>,
      fc.record(
        {
          properties: fc.dictionary(name, tie('any'), { maxKeys: 3, noNullPrototype: true }),
          patternProperties: fc.dictionary(fc.constantFrom('a', '^b', '.'), tie('any'), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
          additionalProperties: tie('any'),
          propertyNames: tie('any'),
          items: tie('any'),
          contains: tie('any'),
          minContains: count,
          maxContains: count,
          allOf: fc.array(tie('any'), { minLength: 1, maxLength: 2 }),
          anyOf: fc.array(tie('any'), { minLength: 1, maxLength: 2 }),
          oneOf: fc.array(tie('any'), { minLength: 1, maxLength: 2 }),
          not: tie('any'),
          if: tie('any'),
          then: tie('any'),
          else: tie('any'),
          dependentSchemas: fc.dictionary(name, tie('any'), { maxKeys: 2, noNullPrototype: true }),
          $defs: fc.record({ a: tie('any'), b: tie('any') }, { noNullPrototype: true }),
        },
        { requiredKeys: [], noNullPrototype: true },
      ) as fc.Arbitrary<JsonObject>,
    ),
  })).schema
  const value = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom<JsonValue[]>('a', '', 'ab', '0', 0, 1, 2, 1.5, true, null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value

  /** Ajv's results; undefined if it cannot compile a schema that we can check. */
  function resultsOfAjv(root: JsonObject, values: JsonValue[]): boolean[] | undefined {
    const ajv = new Ajv2020({
      strict: false,
      logger: false,
      ownProperties: true,
      validateSchema: false,
      meta: false,
      inlineRefs: false,
    })
    formats.default(ajv, { mode: 'full' })
    try {
      const validate = ajv.compile({ $id: 'https://example.com/s', ...root })
      return values.map((one) => validate(one))
    } catch {
      return undefined
    }
  }

  it('are rejected, or give the same results as Ajv', () => {
    let compared = 0
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 1, maxLength: 6 }), (root, values) => {
        if (checkPublisherSchema(root, '').length > 0) return
        const expected = resultsOfAjv(root, values)
        if (expected === undefined) return
        compared++
        expect(values.map((one) => fits(root, one))).toEqual(expected)
      }),
      { numRuns: 300 },
    )
    expect(compared).toBeGreaterThan(50)
  })

  it('with arbitrary content are rejected, or check any value quickly and without throwing', () => {
    const keyword = fc.constantFrom(
      ...[
        'type',
        'enum',
        'const',
        '$ref',
        '$defs',
        'definitions',
        'properties',
        'items',
        'allOf',
        'anyOf',
        'not',
        'pattern',
        'format',
      ],
      ...[
        'patternProperties',
        'dependencies',
        'required',
        '$id',
        '$anchor',
        '$async',
        'id',
        'nullable',
        'discriminator',
        '$schema',
        'if',
        'then',
      ],
      ...[
        'unevaluatedProperties',
        'minLength',
        'constructor',
        'a',
        '$dynamicAnchor',
        '$vocabulary',
        '$comment',
        'contentSchema',
        'default',
      ],
    )
    const wild: fc.Arbitrary<JsonObject> = fc.letrec<{ object: JsonObject; value: JsonValue }>((tie) => ({
      object: fc.array(fc.tuple(keyword, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
      value: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        fc.constantFrom<JsonValue[]>(
          '#',
          '#/$defs/a',
          '#/properties/a',
          '#/definitions/a',
          '#a',
          'string',
          'object',
          '(a+)+$',
          '(?=',
          'email',
          'constructor',
          true,
          false,
          null,
          1,
          -1,
          1e308,
        ),
        tie('object'),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
    })).object
    let checked = 0
    fc.assert(
      fc.property(wild, fc.array(fc.oneof(value, jsonValue), { maxLength: 3 }), (root, values) => {
        const isUsable = within(2000, () => checkPublisherSchema(root, '')).length === 0
        if (!isUsable) return
        checked++
        for (const one of values) {
          for (const { message } of within(2000, () => check(root, one))) expect(message).not.toContain('not usable')
        }
      }),
      { numRuns: 1500 },
    )
    expect(checked).toBeGreaterThan(50)
  })
})
