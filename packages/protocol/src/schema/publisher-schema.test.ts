import { describe, expect, it } from 'vitest'
import { within } from '../../test/cpu-time.js'
import { validateDocument } from '../documents/parse.js'
import type { JsonObject, JsonValue } from '../json.js'
import { checkPublisherSchema, createPublisherSchemas } from './publisher-schema.js'

/** Location and reason of each rejection. */
const refusal = (schema: JsonValue): string =>
  checkPublisherSchema(schema, '')
    .map(({ at, message }) => `${at} ${message}`)
    .join()

const accepted = (schema: JsonObject): void => expect(checkPublisherSchema(schema, '')).toEqual([])

/** Much longer than any check here takes, much shorter than a successful attack. */
const soon = <T>(work: () => T): T => within(2000, work)

const nested = (levels: number, inner: JsonValue, wrap: (inside: JsonValue) => JsonObject): JsonObject => {
  let value = wrap(inner)
  for (let i = 1; i < levels; i++) value = wrap(value)
  return value
}

const definitions = (n: number, of: (i: number) => JsonObject): JsonObject => ({
  $ref: '#/$defs/a0',
  $defs: Object.fromEntries(Array.from({ length: n }, (_, i) => [`a${i}`, of(i)])),
})

describe('checkPublisherSchema rejects', () => {
  it.each([5, 'string', null, [], true])('%j, which is not an object', (value) => {
    expect(checkPublisherSchema(value, '/inputs')).toEqual([
      { at: '/inputs', message: 'must be an object: a JSON Schema, or a map of names to types' },
    ])
  })

  it.each([
    'https://evil.example/schema.json',
    'http://169.254.169.254/latest/meta-data',
    'file:///etc/passwd',
    'other.json#/$defs/a',
    '//evil.example/x',
    'a',
    'https://[not a url',
    `https://a.example/${'a'.repeat(2000)}`,
  ])('the reference %j, which points outside the document', ($ref) => {
    const message = 'must point to a place in this schema, as "#/…" does: nothing is fetched'
    expect(refusal({ properties: { a: { $ref } } })).toBe(`/properties/a/$ref ${message}`)
    expect(refusal({ $defs: { unused: { $ref } } })).toBe(`/$defs/unused/$ref ${message}`)
  })

  it.each([
    '#/$defs/missing',
    '#anchor',
    '#/properties',
    '#/allOf/',
    '#/allOf/00',
    '#/allOf/length',
    '#/title',
    '#/constructor',
  ])('the reference %j, which does not point to a schema', ($ref) => {
    const schema = { title: 'x', properties: {}, allOf: [{}], items: { $ref } }
    if ($ref === '#/properties') accepted(schema)
    else expect(refusal(schema)).toContain('does not point to a schema')
  })

  it('a reference to an invalid schema, wherever it is', () => {
    expect(refusal({ $ref: '#/x', x: { type: 5 } })).toMatch(/^\/x\/type is not valid JSON Schema/)
    expect(refusal({ $ref: '#/enum/0', enum: [{ properties: 5 }] })).toMatch(/^\/enum\/0\/properties is not valid/)
  })

  it.each(['$dynamicRef', '$recursiveRef'])('%s', (keyword) => {
    expect(refusal({ items: { [keyword]: '#' } })).toContain(`/items/${keyword} is not supported`)
  })

  it.each<[JsonObject, string]>([
    [{ type: 'objekt' }, '/type must be one of string, number, integer, boolean, array, object, null, or a list of'],
    [{ type: [] }, '/type must be one of'],
    [{ type: ['string', 'application/json'] }, '/type must be one of'],
    [{ required: 'a' }, '/required must be a list of names'],
    [{ properties: ['a'] }, '/properties must be an object of names and schemas'],
    [{ properties: { 'a/b': 'string' } }, '/properties/a~1b must be a schema: an object or a boolean'],
    [{ properties: { a: { minLength: -1 } } }, '/properties/a/minLength must be a whole number, 0 or more'],
    [{ minLength: '3' }, '/minLength must be a whole number'],
    [{ maximum: '3' }, '/maximum must be a number'],
    [{ exclusiveMaximum: '3' }, '/exclusiveMaximum must be a number'],
    [{ multipleOf: 0 }, '/multipleOf must be a number above 0'],
    [{ enum: 'a' }, '/enum must be a list of values'],
    [{ anyOf: [] }, '/anyOf must be a list of schemas, and not empty'],
    [{ oneOf: [{}, 5] }, '/oneOf/1 must be a schema'],
    [{ items: 5 }, '/items must be a schema'],
    [{ additionalProperties: 'false' }, '/additionalProperties must be a schema'],
    [{ uniqueItems: 'yes' }, '/uniqueItems must be true or false'],
    [{ dependencies: { a: 'b' } }, '/dependencies/a must be a schema'],
    [{ dependentRequired: { a: [1] } }, '/dependentRequired/a must be a list of names'],
    [{ pattern: 5 }, '/pattern must be a string'],
    [{ $ref: 5 }, '/$ref must be a string'],
  ])('%j, which is not JSON Schema', (schema, expected) => {
    expect(refusal(schema).replace('is not valid JSON Schema: it ', '')).toContain(expected)
    expect(refusal(schema)).toContain(' is not valid JSON Schema: it must be ')
  })

  it('huge schemas, and huge maps of names', () => {
    const names = (n: number, value: JsonValue) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, value]))
    expect(refusal({ properties: names(2500, { type: 'string' }) })).toContain('is too large')
    expect(refusal({ enum: Array.from({ length: 5000 }, (_, i) => i) })).toContain('is too large')
    expect(refusal(names(20_000, 'string'))).toContain('is too large')
    accepted(names(500, 'string'))
  })

  it('deeply nested schemas', () => {
    accepted(nested(15, { type: 'string' }, (a) => ({ items: a })))
    expect(refusal(nested(40, { type: 'string' }, (a) => ({ items: a })))).toContain('is nested deeper than 32')
  })

  it.each([
    '^(?=a)',
    '(?!a)b',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '(((a{30}){30}){30})',
    '(a{1000}){1000}',
    '(',
    '[',
    'a{2,1}',
  ])('the pattern %j, which RE2 does not support', (pattern) => {
    expect(refusal({ properties: { a: { pattern } } })).toMatch(
      /^\/properties\/a has a pattern that RE2 does not support/,
    )
    expect(refusal({ patternProperties: { [pattern]: {} } })).toContain('RE2')
  })

  it('patterns that would take long to compile', () => {
    expect(refusal({ pattern: `(${'a|b|'.repeat(100)}c){1000}` })).toContain('RE2')
    expect(refusal({ pattern: 'a'.repeat(6000) })).toContain('RE2')
  })

  it('a schema that refers to itself endlessly', () => {
    expect(refusal({ $ref: '#' })).toContain('endlessly')
    expect(refusal({ allOf: [{ $ref: '#' }] })).toContain('endlessly')
    expect(refusal({ dependencies: { a: { $ref: '#' } } })).toContain('endlessly')
    expect(refusal({ dependentSchemas: { a: { $ref: '#' } } })).toContain('endlessly')
    expect(refusal({ not: { if: { $ref: '#' } } })).toContain('endlessly')
    expect(refusal(definitions(3, (i) => ({ $ref: `#/$defs/a${(i + 1) % 3}` })))).toContain('endlessly')
  })

  it('references that multiply exponentially', () => {
    const doubling = (keyword: string) =>
      definitions(30, (i) =>
        i < 29 ? { [keyword]: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] } : {},
      )
    for (const keyword of ['allOf', 'anyOf', 'oneOf', 'prefixItems'])
      expect(soon(() => refusal(doubling(keyword)))).toContain('references multiply')
    const below = definitions(30, (i) =>
      i < 29 ? { properties: { x: { $ref: `#/$defs/a${i + 1}` } }, items: { $ref: `#/$defs/a${i + 1}` } } : {},
    )
    expect(refusal(below)).toContain('references multiply')
  })

  it('recursion through two branches or a reference beside properties, which could double the work at each level', () => {
    const branches = [{ $ref: '#' }, { properties: { x: { $ref: '#' } } }]
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      expect(
        refusal({ properties: { x: { [keyword]: [{ $ref: '#' }, { items: { $ref: '#' } }] } } }),
        keyword,
      ).toContain('by two paths')
      expect(refusal({ items: { [keyword]: branches } }), keyword).toContain('by two paths')
    }
    const twice = definitions(2, (i) =>
      i === 0
        ? { properties: { x: { $ref: '#/$defs/a1' } } }
        : { $ref: '#/$defs/a0', properties: { x: { $ref: '#/$defs/a1' } } },
    )
    expect(refusal(twice)).toContain('by two paths')
    expect(refusal({ properties: { a: { $ref: '#' } }, patternProperties: { a: { $ref: '#' } } })).toContain(
      'by two paths',
    )
    expect(refusal({ items: { $ref: '#' }, contains: { $ref: '#' } })).toContain('by two paths')
  })

  it('long chains of references', () => {
    expect(refusal(definitions(200, (i) => (i < 199 ? { $ref: `#/$defs/a${i + 1}` } : {})))).toContain(
      'schemas that apply to the same value',
    )
  })

  it('a document whose patterns are too expensive in total', () => {
    const operations = Array.from({ length: 1000 }, (_, i) => ({
      name: `o${i}`,
      inputs: { pattern: `(a|b|c|d|e${i}){1000}` },
    }))
    const issues = soon(() =>
      validateDocument('aidip', { name: 'a', description: 'b', capabilities: ['c'], endpoint: '/d', operations }),
    )
    expect(issues[0]?.message).toContain('the patterns of the document are too large in total')
  })
})

describe('checkPublisherSchema accepts', () => {
  it.each<[string, JsonObject]>([
    ['anything', {}],
    [
      'an ordinary schema',
      {
        type: 'object',
        properties: { text: { type: 'string', minLength: 1 }, to: { enum: ['en', 'zh'] } },
        required: ['text'],
      },
    ],
    ['a tree through items', { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } }],
    ['a binary tree', { properties: { left: { $ref: '#' }, right: { $ref: '#' } }, additionalProperties: false }],
    [
      'a tree through a definition',
      { $ref: '#/definitions/node', definitions: { node: { properties: { next: { $ref: '#/definitions/node' } } } } },
    ],
    ['a recursive member or null', { properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } } }],
    [
      'two definitions that contain each other',
      definitions(2, (i) => ({ properties: { x: { $ref: `#/$defs/a${1 - i}` }, y: { type: 'string' } } })),
    ],
    ['a recursive map', { additionalProperties: { $ref: '#' } }],
    [
      'shared definitions',
      { properties: { a: { $ref: '#/$defs/s' }, b: { $ref: '#/$defs/s' } }, $defs: { s: { type: 'string' } } },
    ],
    ['pointers with escapes', { $ref: '#/$defs/a~1b%20c~0d', $defs: { 'a/b c~d': { type: 'string' } } }],
    [
      'OpenAPI components',
      { $ref: '#/components/schemas/A', components: { schemas: { A: { type: 'string', nullable: true } } } },
    ],
    ['boolean schemas', { properties: { a: true, b: false }, items: { $ref: '#/$defs/yes' }, $defs: { yes: true } }],
    [
      'draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'https://a.example/s.json',
        definitions: { a: {} },
        items: [{ type: 'string' }],
        additionalItems: false,
        dependencies: { a: ['b'] },
      },
    ],
    ['limits of draft-04', { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 1, exclusiveMinimum: true }],
    ['limits of draft-04 without a dialect', { maximum: 1, exclusiveMaximum: true }],
    ['required in the style of draft-03', { properties: { a: { type: 'string', required: true } } }],
    ['the types of draft-03 and Swagger 2', { properties: { a: { type: 'any' }, b: { type: 'file' } } }],
    ['keywords that are null', { type: 'object', properties: { a: { type: 'string', enum: null, not: null } } }],
    ['empty maps as PHP writes them', { type: 'object', properties: [], $defs: [] }],
    ['an empty allOf', { allOf: [], prefixItems: [] }],
    ['repeated names', { required: ['a', 'a'], enum: [1, 1], type: ['string', 'string'] }],
    ['annotations of any type', { title: 5, description: null, default: null, examples: 'a', format: 5 }],
    ['an unknown dialect', { $schema: 'https://a.example/dialect', type: 'object' }],
    [
      'formats known and unknown',
      { properties: { a: { format: 'email' }, b: { format: 'constructor' }, c: { format: 'own' } } },
    ],
    [
      'keywords of other tools',
      {
        id: 'x',
        nullable: true,
        $async: true,
        discriminator: { propertyName: 'a' },
        'x-order': 1,
        example: { $ref: 'https://a.example/' },
      },
    ],
    [
      'nested ids',
      {
        $defs: {
          a: { $id: 'https://a.example/a', $anchor: 'x', type: 'string' },
          b: { $id: 'https://a.example/a', $anchor: 'x' },
        },
      },
    ],
    ['a reference to itself as the empty URI', { properties: { a: { $ref: '' } } }],
    [
      'identifiers that are not URIs',
      { $id: 'https://[', $defs: { a: { $id: 'x'.repeat(3000), $anchor: 'a' } }, $ref: '#/$defs/a' },
    ],
    [
      'ordinary patterns',
      {
        pattern: '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$',
        patternProperties: { '^x-': {}, '\\d+': {}, '^\\p{L}{1,64}$': {} },
      },
    ],
  ])('%s', (_, schema) => {
    accepted(schema)
  })

  it.each([
    'enum',
    'default',
    '$ref',
    'pattern',
    'constructor',
    'toString',
    '$dynamicRef',
    'items',
    'type',
    '$id',
    'const',
  ])('a property named %s', (name) => {
    const schema = {
      type: 'object',
      properties: { [name]: { type: 'string' } },
      required: [name],
      additionalProperties: false,
    }
    accepted(schema)
    const { check } = createPublisherSchemas()
    expect(check(schema, { [name]: 'x' })).toEqual([])
    expect(check(schema, {}).map(({ at }) => at)).toEqual([`/${name}`])
    expect(check(schema, { [name]: 5 }).map(({ at }) => at)).toEqual([`/${name}`])
  })

  it('data that looks like a schema in enum, const, default and examples', () => {
    const bait = { $ref: 'https://evil.example/', pattern: '(?=', $dynamicRef: '#', type: 'objekt' }
    accepted({ enum: [bait], const: bait, default: bait, examples: [bait], description: 'x' })
  })
})

describe('createPublisherSchemas', () => {
  it('reports every issue with its location, up to 20', () => {
    const { check } = createPublisherSchemas()
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { items: { minimum: 3 } } },
      required: ['c'],
      additionalProperties: false,
    }
    expect(check(schema, { a: 1, b: [5, 1], 'd/e': 1 })).toEqual([
      { at: '/c', message: 'is required' },
      { at: '/a', message: 'must be a string' },
      { at: '/b/1', message: 'must be at least 3' },
      { at: '/d~1e', message: 'is not a known member' },
    ])
    expect(
      check(
        { items: { type: 'string' } },
        Array.from({ length: 1000 }, () => 1),
      ),
    ).toHaveLength(20)
  })

  it('checks simple maps', () => {
    const { check } = createPublisherSchemas()
    expect(check({ text: 'string', n: 'integer?' }, { text: 'a' })).toEqual([])
    expect(check({ text: 'string', n: 'integer?' }, { n: 1.5 }).map(({ at }) => at)).toEqual(['/text', '/n'])
  })

  it('distinguishes the patterns of one schema', () => {
    const { check } = createPublisherSchemas()
    const schema = {
      properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } },
      patternProperties: { '^x': { type: 'string' }, '^y': { type: 'number' } },
    }
    expect(check(schema, { a: 'a', b: 'b', x: 'x', y: 1 })).toEqual([])
    expect(check(schema, { a: 'b', b: 'a', x: 1, y: 'y' }).map(({ at }) => at)).toEqual(['/a', '/b', '/x', '/y'])
  })

  it('caches a limited number of schemas', () => {
    const { check } = createPublisherSchemas(2)
    /** How often the schema is read while a value is checked: once for its cache key, more often to compile it. */
    const reads = (name: string): number => {
      let count = 0
      const get = (): string => {
        count++
        return name
      }
      check(Object.defineProperty({}, 'title', { enumerable: true, get }), 1)
      return count
    }
    const first = reads('a')
    expect(first).toBeGreaterThan(1)
    expect([reads('a'), reads('b'), reads('a')]).toEqual([1, first, 1])
    // Now b is the least recently used and is evicted.
    expect([reads('c'), reads('a'), reads('b')]).toEqual([first, 1, first])
  })

  it('returns the right result however often schemas are evicted', () => {
    const { check } = createPublisherSchemas(2)
    const schema = (n: number) => ({ const: n })
    for (const round of [1, 2, 3]) for (const n of [1, 2, 3]) expect(check(schema(n), n), `${round}`).toEqual([])
    expect(check(schema(1), 2)).toHaveLength(1)
  })

  it('shares nothing between schemas with the same $id', () => {
    const { check } = createPublisherSchemas()
    const schema = (type: string) => ({
      $id: 'https://a.example/s',
      $schema: 'http://json-schema.org/draft-07/schema#',
      type,
    })
    expect(check(schema('string'), 'a')).toEqual([])
    expect(check(schema('number'), 'a')).toHaveLength(1)
    expect(check({ $ref: '#/$defs/x', $defs: { x: { $id: 'https://a.example/s', type: 'null' } } }, null)).toEqual([])
  })

  it('reports an issue for an invalid schema that was stored earlier', () => {
    const { check } = createPublisherSchemas()
    for (const schema of [{ $ref: 'https://evil.example/' }, { type: 'objekt' }, { $ref: '#' }, { pattern: '(?=' }]) {
      expect(check(schema, 1)[0]?.message).toContain('schema of the agent is not usable')
    }
  })

  it('never treats a schema as asynchronous, nor calls methods of the value', () => {
    const { check } = createPublisherSchemas()
    expect(check({ $async: true, type: 'string' }, 5)).toHaveLength(1)
    for (const format of ['constructor', '__proto__', '__defineGetter__', 'toString', 'hasOwnProperty']) {
      expect(check({ format }, 'x')).toEqual([])
    }
  })
})

describe('values designed to be expensive', () => {
  const { check } = createPublisherSchemas()
  const long = (unit: string, size = 200_000) => unit.repeat(size / unit.length)

  it.each(['(x+x+)+y', '^(a|aa|aaa)+$', '(.*a){20}$', '^(\\w{0,50}){10}$', 'a[ab]{200}$', '(a?){500}a{500}$'])(
    'the pattern %s on a long text',
    (pattern) => {
      for (const unit of ['x', 'a', 'ab', 'aaab']) soon(() => check({ pattern }, long(unit)))
    },
  )

  it('a pattern whose cost grows with both text and pattern is stopped', () => {
    const text = Array.from({ length: 200_000 }, (_, i) => ((i * i) % 7 < 3 ? 'a' : 'b')).join('')
    expect(soon(() => check({ pattern: 'a[ab]{900}$' }, text))[0]?.message).toContain('too large or too deep')
    expect(check({ pattern: '^c[ab]{900}$' }, text.slice(0, 2000))[0]?.message).toContain('must match the pattern')
  })

  it('an ordinary pattern on a long text is checked, not rejected', () => {
    expect(check({ pattern: '^[A-Za-z0-9+/]*={0,2}$' }, long('abcd'))).toEqual([])
    expect(check({ pattern: '^[A-Za-z0-9+/]*={0,2}$' }, `${long('abcd')}!`)[0]?.message).toContain(
      'must match the pattern',
    )
  })

  it('50,000 unique items, and a duplicate among them', () => {
    const items: JsonValue[] = Array.from({ length: 50_000 }, (_, i) => i)
    const unique = { uniqueItems: true }
    expect(soon(() => check(unique, items))).toEqual([])
    expect(soon(() => check(unique, [...items, 7]))).toEqual([
      { at: '', message: 'must not contain the same item twice' },
    ])
    expect(
      check(unique, [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ]),
    ).toHaveLength(1)
    expect(check(unique, [1, '1', true, [1], { 1: 1 }, null, 'null'])).toEqual([])
  })

  it('recursion inside recursion', () => {
    // More and more of the ten definitions visit each level of the value, so the work cannot be bounded in advance.
    const schema = definitions(10, (i) => ({
      properties: { x: { $ref: `#/$defs/a${i}` } },
      ...(i < 9 && { allOf: [{ $ref: `#/$defs/a${i + 1}` }] }),
    }))
    accepted(schema)
    expect(
      check(
        schema,
        nested(5, {}, (x) => ({ x })),
      ),
    ).toEqual([])
    expect(
      soon(() =>
        check(
          schema,
          nested(62, {}, (x) => ({ x })),
        ),
      )[0]?.message,
    ).toContain('too large or too deep')
  })

  it('a thousand subschemas on each of a hundred thousand items', () => {
    const items: JsonValue[] = Array.from({ length: 100_000 }, () => 1)
    const many = Array.from({ length: 1000 }, (_, i) => ({ not: { const: `x${i}` } }))
    for (const schema of [
      { items: { allOf: many } },
      { allOf: many.slice(0, 500).map((item) => ({ contains: { type: 'string' }, items: item })) },
    ]) {
      expect(soon(() => check(schema, items))[0]?.message).toContain('too large or too deep')
    }
  })

  it('a hundred thousand items of a plain schema are checked', () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: 'n', tags: ['a'] }))
    const row = {
      type: 'object',
      properties: {
        id: { type: 'integer' },
        name: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['id'],
    }
    expect(soon(() => check({ type: 'array', items: row }, rows))).toEqual([])
    expect(check({ type: 'array', items: row }, [...rows, {}])).toEqual([{ at: '/20000/id', message: 'is required' }])
  })

  it.each([
    ...[
      'date',
      'time',
      'date-time',
      'iso-time',
      'iso-date-time',
      'duration',
      'uri',
      'uri-reference',
      'uri-template',
      'url',
    ],
    ...[
      'email',
      'hostname',
      'ipv4',
      'ipv6',
      'regex',
      'uuid',
      'json-pointer',
      'json-pointer-uri-fragment',
      'relative-json-pointer',
      'byte',
    ],
  ])('the format %s on hostile texts', (format) => {
    const starts = ['', 'http://', 'a@', 'P', '/', '#/', '{', '0', '(']
    for (const start of starts)
      for (const unit of ['a', ':', '.', 'a-', '0', '/', '{a}', '%20', '(', 'a.'])
        soon(() => check({ format }, start + long(unit)))
  })

  it('values deeper than parseJson allows', () => {
    const tree = { properties: { x: { $ref: '#' } } }
    expect(
      soon(() =>
        check(
          tree,
          nested(60, {}, (x) => ({ x })),
        ),
      ),
    ).toEqual([])
    expect(
      soon(() =>
        check(
          tree,
          nested(1100, {}, (x) => ({ x })),
        ),
      )[0]?.message,
    ).toContain('too large or too deep')
  })

  it('the largest schemas are compiled quickly', () => {
    const names = (n: number, of: (i: number) => JsonValue) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, of(i)]))
    const list = (n: number, of: (i: number) => JsonValue) => Array.from({ length: n }, (_, i) => of(i))
    const shapes: JsonObject[] = [
      { properties: names(1900, () => ({ type: 'string' })) },
      { allOf: list(1900, (i) => ({ minimum: -i })) },
      { oneOf: list(1900, (i) => ({ minimum: i })) },
      { patternProperties: names(500, () => ({ type: 'string' })) },
      { allOf: list(600, (i) => ({ properties: { [`p${i}`]: true } })), unevaluatedProperties: false },
      { enum: list(3900, (i) => i) },
      definitions(900, (i) => (i < 899 ? { properties: { x: { $ref: `#/$defs/a${i + 1}` } } } : {})),
    ]
    for (const schema of shapes) {
      soon(() => accepted(schema))
      soon(() => createPublisherSchemas().check(schema, { p0: 'a', x: { x: {} } }))
    }
  })
})
