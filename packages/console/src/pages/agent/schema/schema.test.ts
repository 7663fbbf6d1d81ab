import { describe, expect, it } from 'vitest'
import { toField, toFormSchema } from './field.js'
import { initialValue } from './initial-value.js'
import { resolveSchema } from './resolve-schema.js'
import { toSchemaRows } from './schema-rows.js'

const kindOf = (schema: Parameters<typeof toField>[0]): string => toField(schema, {}).kind

describe('a place of a schema', () => {
  it('follows references within the document, and merges allOf', () => {
    const root = {
      $defs: { named: { properties: { name: { type: 'string' } }, required: ['name'] }, 'a/b': { type: 'integer' } },
    }
    const merged = { allOf: [{ $ref: '#/$defs/named' }, { properties: { age: { type: 'integer' } } }], type: 'object' }
    expect(resolveSchema(merged, root)).toEqual({
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name'],
    })
    expect(resolveSchema({ $ref: '#/$defs/a~1b', title: 'Count' }, root)).toEqual({ type: 'integer', title: 'Count' })
  })

  it('accepts anything if it cannot be followed', () => {
    const loop = { $ref: '#' }
    expect(resolveSchema(loop, loop)).toEqual({})
    for (const $ref of ['https://elsewhere.example/schema', '#/nowhere', '#/__proto__', '#/%E0%A4%A'])
      expect(resolveSchema({ $ref }, {})).toEqual({})
    const wide = { allOf: Array.from({ length: 10 }, () => ({ $ref: '#' })) }
    expect(resolveSchema(wide, wide)).toEqual({})
  })
})

describe('a field', () => {
  it.each([
    [{ type: 'string' }, 'text'],
    [{ type: 'string', format: 'byte' }, 'file'],
    [{ type: 'string', contentEncoding: 'base64' }, 'file'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['integer', 'null'] }, 'number'],
    [{ enum: ['a', 1] }, 'enum'],
    [{ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, 'enum'],
    [{ oneOf: [{ type: 'string' }, { type: 'object', properties: { a: {} } }] }, 'choice'],
    [{ type: ['string', 'number'] }, 'choice'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'text'],
    [{ const: 5 }, 'constant'],
    [{ properties: { a: {} } }, 'object'],
    [{ type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }, 'object'],
    [{ type: 'object' }, 'json'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'json'],
    [{ items: { type: 'string' } }, 'array'],
    [{ type: 'array', prefixItems: [{}] }, 'json'],
    [{}, 'json'],
    [true, 'json'],
  ])('for %j is %s', (schema, kind) => expect(kindOf(schema)).toBe(kind))

  it('knows that null is allowed', () => {
    expect(toField({ type: ['integer', 'null'] }, {}).isNullable).toBe(true)
    expect(toField({ oneOf: [{ $ref: '#/a' }, { type: 'string' }] }, { a: { type: 'null' } }).isNullable).toBe(true)
    expect(toField({ type: 'integer' }, {}).isNullable).toBe(false)
  })

  it('names alternatives by title, by the constant that tells them apart, or by their members', () => {
    const alternatives = [
      { title: 'By train', type: 'object' },
      { properties: { kind: { const: 'car' }, seats: {} } },
      { properties: { from: {}, to: {} } },
      { type: 'string' },
    ]
    const field = toField({ oneOf: alternatives, description: 'How' }, {})
    expect(field.kind === 'choice' && field.alternatives.map(({ label }) => label)).toEqual([
      'By train',
      'car',
      'from, to',
      'string',
    ])
    expect(field.kind === 'choice' && field.alternatives[0]?.schema.description).toBe('How')
  })

  it('recognizes the files of a simple map', () => {
    const schema = toFormSchema({ scan: 'file', page: 'integer?' })
    expect(schema.required).toEqual(['scan'])
    expect(toField({ ...schema }, schema)).toMatchObject({
      kind: 'object',
      members: [{ name: 'scan' }, { name: 'page' }],
    })
    expect(toSchemaRows(schema).map(({ type }) => type)).toEqual(['file', 'integer'])
  })
})

describe('the initial value of a form', () => {
  it('has defaults, constants and the required objects around them', () => {
    const schema = {
      type: 'object',
      properties: {
        to: { type: 'string' },
        days: { type: 'integer', default: 3 },
        options: {
          type: 'object',
          properties: { fast: { type: 'boolean' }, kind: { const: 'x' } },
          required: ['fast', 'kind'],
        },
        extra: { type: 'object', properties: { note: { type: 'string', default: 'none' } } },
        guests: { type: 'array', minItems: 1, items: { type: 'object', properties: { name: { type: 'string' } } } },
      },
      required: ['to', 'options', 'guests'],
    }
    expect(initialValue(schema, schema)).toEqual({ days: 3, options: { fast: false, kind: 'x' }, guests: [{}] })
  })

  it('ends for recursive schemas', () => {
    const schema = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }
    expect(JSON.stringify(initialValue(schema, schema))).toMatch(/^(\{"next":){8}/)
  })
})

describe('the rows of a schema', () => {
  it('are its members, nested ones after their parent, with types and limits', () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Where to go', minLength: 2 },
        guests: {
          type: 'array',
          items: { type: 'object', properties: { age: { type: ['integer', 'null'], minimum: 0 } } },
        },
        pace: { enum: ['slow', 'fast'], default: 'slow' },
        by: { oneOf: [{ title: 'Car', properties: { seats: { type: 'integer', maximum: 9 } } }, { type: 'string' }] },
      },
      required: ['city'],
    }
    expect(
      toSchemaRows(schema).map(({ path, type, isRequired, limits }) => [path.join('.'), type, isRequired, ...limits]),
    ).toEqual([
      ['city', 'string', true, 'length at least 2'],
      ['guests', 'array of object', false],
      ['guests.[].age', 'integer or null', false, 'at least 0'],
      ['pace', 'string', false, 'one of slow, fast', 'default slow'],
      ['by', 'object or string', false],
      ['by.(Car)', 'object', false],
      ['by.(Car).seats', 'integer', false, 'at most 9'],
    ])
  })

  it('are bounded, also for recursive schemas', () => {
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`next${i}`, { $ref: '#' }]))
    const schema = { type: 'object', properties }
    expect(toSchemaRows(schema).length).toBe(200)
  })

  it('describe a value that is no object in one line', () => {
    expect(toSchemaRows({ type: 'array', items: { type: 'string' } })).toMatchObject([{ path: ['[]'], type: 'string' }])
    expect(toSchemaRows({ type: 'string', maxLength: 5 })).toMatchObject([
      { type: 'string', limits: ['length at most 5'] },
    ])
    expect(toSchemaRows({ type: 'object' })).toEqual([])
  })
})
