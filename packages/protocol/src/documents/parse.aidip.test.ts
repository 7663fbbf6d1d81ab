import { describe, expect, it } from 'vitest'
import { within } from '../../test/cpu-time.js'
import { fixture } from '../../test/fixtures.js'
import { DirectoryError } from '../errors.js'
import type { JsonValue } from '../json.js'
import { parseDocument, validateDocument } from './parse.js'
import type { Strictness } from './validate-members.js'

/** Locations of the issues in the sample of AIDIP-01 §3.3 after changing some members. */
const problems = (changes: Record<string, JsonValue | undefined>, strictness?: Strictness): string[] =>
  validateDocument('aidip', fixture('FX-T01', changes), strictness).map(({ at }) => at)

const operation = (changes: Record<string, JsonValue>) => ({
  operations: [{ name: 'a', description: 'b', ...changes }],
})

describe('AIDIP metadata', () => {
  it('AIDIP-3-01 is rejected if it does not conform, with an issue for each missing member', () => {
    expect(validateDocument('aidip', fixture('FX-T01'))).toEqual([])
    expect(validateDocument('aidip', {}).map(({ at }) => at)).toEqual([
      '/name',
      '/description',
      '/capabilities',
      '/endpoint',
      '/operations',
    ])
    expect(() => parseDocument('aidip', {})).toThrow(DirectoryError)
    expect(() => parseDocument('aidip', {})).toThrow('/name is required; /description is required')
  })

  it('AIDIP-3.3-01 accepts the draft’s sample unchanged', () => {
    const sample = fixture('FX-T01')
    expect(parseDocument('aidip', sample)).toBe(sample)
  })

  it.each([[[]], ['text'], [5], [null]])('AIDIP00-4-01 rejects %j: a record is an object', (value) => {
    expect(validateDocument('aidip', value)).toEqual([{ at: '', message: 'must be an object' }])
  })

  it.each(['name', 'description', 'capabilities', 'endpoint'])('AIDIP00-4-04 requires %s', (name) => {
    expect(problems({ [name]: undefined })).toEqual([`/${name}`])
  })

  it('AIDIP-2-01 accepts capabilities as plain strings', () => {
    expect(problems({ capabilities: ['image_classification'] })).toEqual([])
  })

  it('accepts a document without an id, and rejects an id that is not a string', () => {
    expect(problems({ id: undefined })).toEqual([])
    expect(problems({ id: 12_345 })).toEqual(['/id'])
    expect(problems({ id: '' })).toEqual(['/id'])
  })

  it('rejects a name that is not a string', () => {
    expect(problems({ name: 5 })).toEqual(['/name'])
    expect(problems({ name: '' })).toEqual(['/name'])
  })

  it('rejects a description that is not a string', () => {
    expect(problems({ description: ['a'] })).toEqual(['/description'])
  })

  it('AIDIP-3.1-06 rejects a version that is a number: 1.10 would become 1.1 (C-24)', () => {
    expect(problems({ version: 1.2 })).toEqual(['/version'])
    expect(problems({ version: '1.2' })).toEqual([])
  })

  it('AIDIP-3.1-07 rejects a publisher that is not a string', () => {
    expect(problems({ publisher: {} })).toEqual(['/publisher'])
  })

  it('AIDIP-3.1-08 rejects capabilities that are not an array of strings', () => {
    expect(problems({ capabilities: 'translation' })).toEqual(['/capabilities'])
    expect(problems({ capabilities: [{ name: 'translation' }] })).toEqual(['/capabilities/0'])
  })

  it('rejects tags that are not an array of strings', () => {
    expect(problems({ tags: 'cloud' })).toEqual(['/tags'])
    expect(problems({ tags: ['cloud', 5] })).toEqual(['/tags/1'])
  })

  it.each(['/agents/x/invoke', 'https://api.example.com/a?b=c', 'agent://planner.example.com/x', '/'])(
    'AIDIP-3.1-10, AIDIP00-4-07 accepts the endpoint %s',
    (endpoint) => {
      expect(problems({ endpoint })).toEqual([])
    },
  )

  it.each([
    42,
    'not a url',
    '',
    'agents/x',
    'https://',
    'https://exa mple.com/',
    '//evil.example/x',
    '/a b',
    '/a\n',
    '/a"b',
  ])('AIDIP-3.1-10 rejects the endpoint %j', (endpoint) => {
    expect(problems({ endpoint })).toEqual(['/endpoint'])
  })

  it('AIDIP-3.1-12 accepts a document without supported_languages, and rejects a string', () => {
    expect(problems({ supported_languages: undefined })).toEqual([])
    expect(problems({ supported_languages: ['en', 'zh', 'fr'] })).toEqual([])
    expect(problems({ supported_languages: 'en' })).toEqual(['/supported_languages'])
  })

  it('AIDIP-3.1-14 checks the members of authentication', () => {
    expect(problems({ authentication: { type: 'oauth2_bearer', scopes: ['invoke'] } })).toEqual([])
    expect(problems({ authentication: { type: 'oauth2_bearer', scopes: 'invoke' } })).toEqual([
      '/authentication/scopes',
    ])
    expect(problems({ authentication: { type: 3 } })).toEqual(['/authentication/type'])
    expect(problems({ authentication: { type: 'api_key', instructions: {} } })).toEqual([
      '/authentication/instructions',
    ])
    expect(problems({ authentication: [] })).toEqual(['/authentication'])
  })

  it.each(['none', 'API key', 'OAuth2', 'mTLS'])(
    'AIDIP00-4-08 accepts the authentication %j as a plain string',
    (authentication) => {
      expect(problems({ authentication })).toEqual([])
    },
  )

  it('accepts any string as a status, and rejects other types', () => {
    expect(problems({ status: 'deprecated' })).toEqual([])
    expect(problems({ status: undefined })).toEqual([])
    expect(problems({ status: true })).toEqual(['/status'])
  })

  it('AIDIP-3.1-17 accepts unknown members', () => {
    expect(problems({ pricing: { per_call: 0.01 }, x: 1, constructor: { toString: [] }, '7': null })).toEqual([])
  })

  it('AIDIP00-4-09 accepts the optional members of 00, and rejects them with a wrong type', () => {
    const optional = {
      supported_languages: ['en'],
      tags: ['a'],
      protocols: ['https'],
      version: '1.0',
      provider: 'ExampleAI',
      license: 'MIT',
      certification: { verified: true, quality_score: 4.8 },
      last_update: '2025-01-01',
    }
    expect(problems(optional)).toEqual([])
    for (const name of Object.keys(optional)) expect(problems({ [name]: 5 })).toEqual([`/${name}`])
  })

  it('AIDIP00-4-10 accepts a certification that is an object', () => {
    expect(problems({ certification: { verified: true, quality_score: 4.8 } })).toEqual([])
    expect(problems({ certification: 'gold' })).toEqual(['/certification'])
  })

  it('AIDIP00-4-11 accepts a JSON-LD context', () => {
    expect(problems({ '@context': 'https://schema.org' })).toEqual([])
  })

  it('may have no capabilities only if it has tags or operations (C-07)', () => {
    const io = { operations: undefined, inputs: {}, outputs: {} }
    expect(problems({ capabilities: [] })).toEqual([])
    expect(problems({ ...io, capabilities: [] })).toEqual([])
    expect(problems({ ...io, capabilities: [], tags: [] })).toEqual(['/capabilities'])
  })

  it('is limited to 1000 capabilities, 100 tags and 1000 operations (C-76)', () => {
    const many = (n: number, one: JsonValue = 'a') => Array.from({ length: n }, () => one)
    expect(problems({ capabilities: many(1000), tags: many(100), operations: many(1000, { name: 'a' }) })).toEqual([])
    expect(problems({ capabilities: many(1001) })).toEqual(['/capabilities'])
    expect(problems({ tags: many(101) })).toEqual(['/tags'])
    expect(problems({ operations: many(1001, { name: 'a' }) })).toEqual(['/operations'])
  })

  it('is rejected with the first 20 issues if a hundred thousand members are wrong', () => {
    const capabilities = Array.from({ length: 120_000 }, () => 1)
    const places = within(200, () => problems({ capabilities }))
    expect(places).toEqual(['/capabilities', ...Array.from({ length: 19 }, (_, i) => `/capabilities/${i}`)])
  })

  it('may be public, restricted or private, and nothing else (C-95)', () => {
    for (const visibility of ['public', 'restricted', 'private']) expect(problems({ visibility })).toEqual([])
    expect(problems({ visibility: 'secret' })).toEqual(['/visibility'])
    expect(problems({ private: 'endpoint' })).toEqual(['/private'])
  })
})

describe('AIDIP input and output', () => {
  it('AIDIP-3.2-01 must be described by operations, or by inputs and outputs', () => {
    expect(problems({ operations: undefined })).toEqual(['/operations'])
    expect(problems({ operations: undefined, inputs: {} })).toEqual(['/outputs'])
    expect(problems({ operations: undefined, outputs: {} })).toEqual(['/inputs'])
    expect(problems({ operations: undefined, inputs: {}, outputs: {} })).toEqual([])
    expect(problems({ operations: undefined, input_schema: {}, output_schema: {} })).toEqual([])
    expect(problems({ operations: [] })).toEqual(['/operations'])
  })

  it('AIDIP-3.2-02 checks name, description, inputs and outputs of each operation', () => {
    expect(problems({ operations: [{ description: 'b' }] })).toEqual(['/operations/0/name'])
    expect(problems(operation({ inputs: 'text' }))).toEqual(['/operations/0/inputs'])
    expect(problems(operation({ outputs: [] }))).toEqual(['/operations/0/outputs'])
    expect(problems(operation({ description: 5 }))).toEqual(['/operations/0/description'])
    expect(problems({ operations: { name: 'a' } })).toEqual(['/operations'])
  })

  it('AIDIP-3.2-03 rejects inputs and outputs that are not JSON Schema, and says where', () => {
    expect(problems(operation({ inputs: { type: 'objekt' } }))).toEqual(['/operations/0/inputs/type'])
    expect(problems({ operations: undefined, inputs: {}, outputs: { properties: { a: { required: 'b' } } } })).toEqual([
      '/outputs/properties/a/required',
    ])
    expect(problems(operation({ outputs: { $ref: 'https://evil.example/schema' } }))).toEqual([
      '/operations/0/outputs/$ref',
    ])
  })

  it('AIDIP-3.2-04 accepts examples as pairs in an array, and rejects an object', () => {
    expect(problems(operation({ examples: [{ input: { $ref: 'x' }, output: {} }] }))).toEqual([])
    expect(problems(operation({ examples: { input: {} } }))).toEqual(['/operations/0/examples'])
    expect(problems(operation({ examples: ['text'] }))).toEqual(['/operations/0/examples/0'])
  })

  it('AIDIP-3.2-06 accepts one generic operation', () => {
    expect(problems({ operations: [{ name: 'generate', inputs: { type: 'object' } }] })).toEqual([])
  })

  it('AIDIP-3.2-07, AIDIP00-4-06 accepts inputs and outputs at the top level, as schemas or as maps', () => {
    expect(validateDocument('aidip', fixture('FX-T00'))).toEqual([])
    expect(problems({ operations: undefined, inputs: { type: 'object' }, outputs: { text: 'string' } })).toEqual([])
  })

  it('AIDIP00-4-05 accepts a separate endpoint for an operation', () => {
    expect(problems(operation({ endpoint: '/other' }))).toEqual([])
    expect(problems(operation({ endpoint: 'other' }))).toEqual(['/operations/0/endpoint'])
  })

  it('AIDIP-2-03 accepts several operations, each with its own schemas', () => {
    const operations = ['translateText', 'detectLanguage'].map((name, i) => ({
      name,
      inputs: { [`p${i}`]: 'string' },
      outputs: {},
    }))
    expect(problems({ operations })).toEqual([])
  })

  it.each(['capabilities', 'skills', 'examples', 'operations'])('finds hostile schemas in %s too', (list) => {
    const item = { name: 'a', id: 'a', text: 'a', type: 'tool', input_schema: { $ref: 'https://evil.example/' } }
    const documents = {
      capabilities: validateDocument('directory', { base: 'https://a.example/', capabilities: [item] }),
      skills: validateDocument('a2a', {
        name: 'a',
        description: 'b',
        version: '1',
        url: 'https://a.example/',
        capabilities: {},
        skills: [item],
      }),
      examples: validateDocument('profile', fixture('FX-HR', { examples: [item] })),
      operations: validateDocument('descriptor', { name: 'a', operations: [item] }),
    }
    expect(documents[list as keyof typeof documents].map(({ at }) => at)).toEqual([`/${list}/0/input_schema/$ref`])
  })
})

describe('the operator’s strictness settings', () => {
  it.each(['version', 'publisher', 'tags'])('requires %s with strict01 only (C-07)', (name) => {
    expect(problems({ [name]: undefined })).toEqual([])
    expect(problems({ [name]: undefined }, { strict01: true })).toEqual([`/${name}`])
    expect(problems({}, { strict01: true })).toEqual([])
  })

  it('accepts capability objects with a name if lenient (C-10)', () => {
    const lenient = { lenientCapabilities: true }
    expect(problems({ capabilities: [{ name: 'a' }, 'b'] }, lenient)).toEqual([])
    expect(problems({ capabilities: [{ name: 5 }, { title: 'a' }] }, lenient)).toEqual([
      '/capabilities/0',
      '/capabilities/1',
    ])
  })

  it('PROF-4.7-02 ignores unknown members unless the policy rejects them', () => {
    const strict = { refuseUnknownMembers: true }
    expect(problems({ foo: 1 })).toEqual([])
    expect(problems({ 'f/oo': 1, 'com.example.x': 1, 'https://example.com/x': 1, 'x-y': 1 }, strict)).toEqual([
      '/f~1oo',
    ])
    for (const id of ['FX-T01', 'FX-T00']) expect(validateDocument('aidip', fixture(id), strict)).toEqual([])
    expect(validateDocument('profile', fixture('FX-HR'), strict)).toEqual([])
    expect(validateDocument('profile', fixture('FX-HR', { foo: 1 }), strict).map(({ at }) => at)).toEqual(['/foo'])
    expect(validateDocument('directory', fixture('FX-SUM'), strict)).toEqual([])
    expect(validateDocument('descriptor', fixture('FX-DESC'), strict)).toEqual([])
  })
})
