import { describe, expect, it } from 'vitest'
import { within } from '../../test/cpu-time.js'
import { fixture } from '../../test/fixtures.js'
import type { JsonValue } from '../json.js'
import { createPublisherSchemas } from '../schema/publisher-schema.js'
import { lintExamples, lintRecord, lintUpdate, STATUS_WORDS } from './lint.js'
import { readRecord } from './read.js'
import type { DocumentFormat } from './record.js'

type Changes = Record<string, JsonValue | undefined>

const FIXTURES: Partial<Record<DocumentFormat, string>> = { aidip: 'FX-T01', profile: 'FX-HR', directory: 'FX-SUM' }

/** Advice on a sample of the drafts after changing some members. */
const advice = (format: DocumentFormat, changes: Changes = {}, id = 'some-agent'): string =>
  lintRecord(readRecord(format, fixture(FIXTURES[format] ?? '', changes), id)).join('\n')

describe('lintRecord', () => {
  it('has no advice on the samples of the drafts', () => {
    for (const format of ['aidip', 'profile', 'directory'] as const) expect(advice(format)).toBe('')
  })

  it('PROF-4.1-05 warns about missing tags', () => {
    expect(advice('profile', { tags: undefined })).toContain('/tags is missing')
  })

  it('PROF-4.3-01 says what a short description should cover', () => {
    expect(advice('profile', { description: 'Does things.' })).toContain(
      '/description is short: describe purpose, domains, inputs, outputs and limits',
    )
  })

  it.each(['best', 'perfect', 'guaranteed', 'Best'])('PROF-4.3-02 warns about the superlative %s', (word) => {
    expect(advice('profile', { description: `This is the ${word} agent for onboarding.` })).toContain(`says "${word}"`)
    expect(advice('profile', { description: `Finds the ${word}ial road to the office of an employee.` })).toBe('')
  })

  it('PROF-4.4-01 warns about tags outside the declared taxonomies', () => {
    const record = readRecord('profile', fixture('FX-HR', { tags: ['HR', 'astrology'] }), 'a')
    expect(lintRecord(record, { isDeclaredTag: (tag) => tag === 'HR' }).join()).toContain(
      '/tags are not in the taxonomies of this directory: astrology',
    )
    expect(lintRecord(record).join()).not.toContain('taxonomies')
  })

  it.each(['NLP', 'two words', 'a'.repeat(65)])('PROF-4.4-02 warns about the tag %j', (tag) => {
    expect(advice('profile', { tags: ['hr', tag] })).toContain('/tags should be short, lower-case and without spaces')
  })

  it('PROF-4.4-03 warns about tags that name several things', () => {
    const tags = ['law', 'law,tax', 'research-and-development', 'r&d', 'brand-new', 'text/plain']
    expect(advice('profile', { tags })).toBe(
      '/tags should name one thing each: split law,tax, research-and-development, r&d',
    )
  })

  it('PROF-4.5-01 warns about examples without stable ids', () => {
    expect(advice('profile', { examples: [{ text: 'a' }] })).toContain('/examples should each have a stable id')
  })

  it('PROF-4.5-04 warns about duplicate examples', () => {
    const examples = ['a', 'b', 'a'].map((text, i) => ({ id: `${i}`, text }))
    expect(advice('profile', { examples })).toContain('/examples has the same text twice: "a"')
    expect(advice('profile', { examples: examples.slice(0, 2) })).toBe('')
  })

  it('PROF-4.7-01 warns about a missing version', () => {
    expect(advice('profile', { version: undefined })).toContain('/version is missing: add one')
  })

  it('PROF-4.7-05 recommends collision-free names for extensions', () => {
    expect(advice('profile', { foo: 1 })).toContain(
      '/foo is not a known member: a name such as com.example.foo avoids collisions',
    )
    expect(
      advice('profile', { 'com.example.foo': 1, 'https://example.com/foo': 1, '@context': 'x', protocols: [] }),
    ).toBe('')
  })

  it.each(STATUS_WORDS)('PROF-4.8-01 accepts the status %s', (status) => {
    expect(advice('profile', { status })).toBe('')
  })

  it('PROF-4.8-01 warns about another status', () => {
    expect(advice('profile', { status: 'paused' })).toContain('/status "paused" is not one of active')
    expect(advice('aidip', { status: 'paused' })).toContain('/status "paused"')
  })

  it.each([
    'Call it with sk-abcdefghijklmnop1234.',
    'Use AKIAIOSFODNN7EXAMPLE for this agent.',
    'The token: 0123456789abcdef is built in.',
    'Send ghp_0123456789abcdefghijklmnopqrstuvwxyz along.',
  ])('PROF-15-01, PROF-15-02 warns about text that looks like a secret: %s', (text) => {
    expect(advice('profile', { description: text })).toContain('/description seems to contain a key or token')
    expect(advice('profile', { examples: [{ id: 'a', text }] })).toContain('/examples seem to contain a key or token')
  })

  it('PROF-15-01 does not mistake ordinary words for a secret', () => {
    expect(advice('profile', { description: 'Rotates a token or secret; see the API key page.' })).toBe('')
  })

  it('AD-4.1-05 advises short and descriptive names', () => {
    expect(advice('directory', {}, 'a'.repeat(65))).toContain('?agent is long')
    expect(advice('directory', {}, '12345')).toContain('?agent should be a descriptive name')
    expect(advice('directory', {}, '翻译')).toBe('')
    expect(advice('aidip', {}, '12345')).toBe('')
  })

  it('AD-4.1-12 advises one or two sentences', () => {
    expect(advice('directory', { description: 'It reads things. It writes things.' })).toBe('')
    expect(advice('directory', { description: 'It reads. It writes. It counts.' })).toContain(
      '/description should be one or two sentences',
    )
    expect(advice('profile', { description: 'It reads. It writes. It counts.' })).toBe('')
  })

  it('AIDIP-3.2-08 recommends operations over inputs and outputs at the top level', () => {
    expect(advice('aidip', { operations: undefined, inputs: {}, outputs: {} })).toContain('/operations is recommended')
    expect(advice('aidip')).not.toContain('recommended')
  })

  it('handles twenty thousand examples quickly', () => {
    const examples = Array.from({ length: 20_000 }, (_, i) => ({ id: `${i}`, text: `${i}` }))
    expect(within(500, () => advice('aidip', { examples }))).toBe('')
  })
})

describe('lintRecord on JSON Schemas', () => {
  const operations = (...inputs: JsonValue[]): Changes => ({
    operations: inputs.map((schema, i) => ({ name: `o${i}`, inputs: schema, outputs: {} })),
  })

  it('reports each ignored construct once, with its first location', () => {
    const upload = { type: 'object', properties: { a: { type: 'file' }, b: { type: 'file' } } }
    expect(advice('aidip', operations({ type: 'object' }, upload, upload))).toBe(
      '/operations/1/inputs/properties/a/type "file" is not a type of JSON Schema: it is read as "string" (and in 3 more places)',
    )
  })

  it('reports a map with an unknown type', () => {
    const lines = advice('aidip', operations({ texts: 'string[]', to: 'string' })).split('\n')
    expect(lines).toEqual([
      '/operations/0/inputs/texts is not a keyword of JSON Schema and is ignored',
      '/operations/0/inputs/to is not a keyword of JSON Schema and is ignored',
    ])
  })

  it('stops after ten pieces of advice', () => {
    const words = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`word${i}`, true]))
    expect(advice('aidip', operations(words)).split('\n')).toHaveLength(10)
  })
})

describe('lintExamples', () => {
  const lint = (changes: Changes) =>
    lintExamples(readRecord('aidip', fixture('FX-T01', changes), 'a'), createPublisherSchemas())

  it('AIDIP-3.2-05 finds examples that do not match the schemas of their operation', () => {
    expect(lint({})).toEqual([])
    const inputs = { text: 'string', to: 'string' }
    const operations = [
      {
        name: 'a',
        inputs,
        outputs: { type: 'string' },
        examples: [
          { input: { text: 'x', to: 'en' }, output: 'y' },
          { input: { text: 5 }, output: {} },
        ],
      },
    ]
    expect(lint({ operations })).toEqual([
      '/operations/0/examples/1/input/to does not match the schema: it is required',
      '/operations/0/examples/1/output does not match the schema: it must be a string',
    ])
  })

  it('has no advice on an operation without schemas', () => {
    expect(lint({ operations: [{ name: 'a', examples: [{ input: 1, output: 2 }, {}] }] })).toEqual([])
  })

  it('limits the time for checking examples', () => {
    const deep = (levels: number): JsonValue => (levels === 0 ? {} : { x: deep(levels - 1) })
    const definitions = Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [
        `a${i}`,
        { properties: { x: { $ref: `#/$defs/a${i}` } }, ...(i < 9 && { allOf: [{ $ref: `#/$defs/a${i + 1}` }] }) },
      ]),
    )
    const inputs = { $ref: '#/$defs/a0', $defs: definitions }
    const examples = Array.from({ length: 200 }, () => ({ input: deep(55) }))
    within(2000, () => lint({ operations: [{ name: 'a', inputs, examples }] }))
  })
})

describe('lintUpdate', () => {
  const record = (changes: Changes) => readRecord('profile', fixture('FX-HR', changes), 'a')

  it('PROF-4.7-01 warns if bindings, tags or examples change but the version does not', () => {
    const bindings = [{ protocol: 'https', endpoint: 'https://elsewhere.example/' }]
    expect(lintUpdate(record({}), record({ bindings })).join()).toContain('/version is still 1.0.0')
    expect(lintUpdate(record({}), record({ tags: ['x'] }))).toHaveLength(1)
    expect(lintUpdate(record({}), record({ examples: [] }))).toHaveLength(1)
    expect(lintUpdate(record({}), record({ bindings, version: '1.0.1' }))).toEqual([])
    expect(lintUpdate(record({}), record({ status: 'deprecated' }))).toEqual([])
  })

  it('ignores the order of members', () => {
    const binding = { protocol: 'https', endpoint: 'https://a.example/' }
    expect(
      lintUpdate(
        record({ bindings: [binding] }),
        record({ bindings: [{ endpoint: binding.endpoint, protocol: 'https' }] }),
      ),
    ).toEqual([])
  })
})
