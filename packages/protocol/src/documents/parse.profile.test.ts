import { describe, expect, it } from 'vitest'
import { fixture } from '../../test/fixtures.js'
import type { JsonValue } from '../json.js'
import { parseDiscoveryRequest, validateDocument } from './parse.js'

/** Locations of the issues in the sample of PROF §4.9 after changing some members. */
const problems = (changes: Record<string, JsonValue | undefined>): string[] =>
  validateDocument('profile', fixture('FX-HR', changes)).map(({ at }) => at)

const binding = (changes: Record<string, JsonValue | undefined>): JsonValue =>
  JSON.parse(JSON.stringify([{ protocol: 'https', endpoint: 'https://agents.example.net/a', ...changes }]))

describe('profile metadata', () => {
  it('PROF-4-01 must be a single object', () => {
    expect(validateDocument('profile', [fixture('FX-HR')])).toEqual([{ at: '', message: 'must be an object' }])
  })

  it.each(['id', 'name', 'description'])('PROF-4.1-01, PROF-4.1-02, PROF-4.1-03 requires %s to be a string', (name) => {
    expect(problems({ [name]: undefined })).toEqual([`/${name}`])
    expect(problems({ [name]: 5 })).toEqual([`/${name}`])
  })

  it.each([undefined, [], {}, ['https']])('PROF-4.1-04 requires bindings, and rejects %j', (bindings) => {
    expect(problems({ bindings }).join()).toMatch(/^\/bindings/)
  })

  it('PROF-4.1-05 accepts a document without tags, and rejects a string', () => {
    expect(problems({ tags: undefined })).toEqual([])
    expect(problems({ tags: 'hr' })).toEqual(['/tags'])
  })

  it('PROF-4.1-06 accepts a document without examples, and rejects strings', () => {
    expect(problems({ examples: undefined })).toEqual([])
    expect(problems({ examples: ['text'] })).toEqual(['/examples/0'])
  })

  it('PROF-4.1-07 accepts a document without auth, and rejects a string', () => {
    expect(problems({ auth: { type: 'oauth2', anything: [] } })).toEqual([])
    expect(problems({ auth: 'oauth2' })).toEqual(['/auth'])
  })

  it('PROF-4.1-08 accepts constraints that are an object', () => {
    expect(problems({ constraints: { region: 'apac', max_cost: 1 } })).toEqual([])
    expect(problems({ constraints: ['apac'] })).toEqual(['/constraints'])
  })

  it('PROF-4.1-09 accepts a document without a status, and rejects one that is not a string', () => {
    expect(problems({ status: undefined })).toEqual([])
    expect(problems({ status: 1 })).toEqual(['/status'])
  })

  it('PROF-4.1-10 accepts only a timestamp as expires_at', () => {
    expect(problems({ expires_at: '2027-05-08T00:00:00.5+02:00' })).toEqual([])
    for (const expires_at of ['tomorrow', '2027-05-08', '2027-02-30T00:00:00Z', 5])
      expect(problems({ expires_at })).toEqual(['/expires_at'])
  })

  it('PROF-4.1-11 rejects a version that is a number', () => {
    expect(problems({ version: 1 })).toEqual(['/version'])
  })

  it('PROF-4.1-12 accepts only a timestamp as updated_at', () => {
    expect(problems({ updated_at: 'yesterday' })).toEqual(['/updated_at'])
    expect(problems({ updated_at: undefined })).toEqual([])
  })

  it('PROF-4.1-13 accepts a signature that is an object', () => {
    expect(problems({ signature: { kid: 'k', anything: 1 } })).toEqual([])
    expect(problems({ signature: 'abc' })).toEqual(['/signature'])
  })

  it('PROF-4.1-14 treats names of members as case-sensitive', () => {
    expect(problems({ id: undefined, ID: 'x' })).toEqual(['/id'])
  })

  it('PROF-4.1-15, PROF-4.7-03 ignores unknown fields, including nested ones', () => {
    expect(problems({ extra: { a: 1 }, bindings: binding({ foo: 1 }), examples: [{ text: 'a', foo: [] }] })).toEqual([])
  })

  it.each(['https://example.net/a', 'agents.example.net', 'local-7', 'urn:uuid:6f1c2f6e-2f5b-4c0e-9f0e-0d8a5a1f7a11'])(
    'PROF-4.2-02 accepts the id %s',
    (id) => {
      expect(problems({ id })).toEqual([])
    },
  )

  it('PROF-4.5-01 accepts an example without an id', () => {
    expect(problems({ examples: [{ text: 'a' }] })).toEqual([])
  })

  it('PROF-4.5-02 rejects an example without text', () => {
    expect(problems({ examples: [{ id: 'ex-1' }] })).toEqual(['/examples/0/text'])
    expect(problems({ examples: [{ text: 5 }] })).toEqual(['/examples/0/text'])
  })

  it('PROF-4.5-03 checks tags, schemas and language of an example', () => {
    const right = { text: 'a', tags: ['b'], input_schema: { type: 'object' }, output_schema: {}, language: 'en' }
    expect(problems({ examples: [right] })).toEqual([])
    for (const name of ['tags', 'input_schema', 'output_schema', 'language']) {
      expect(problems({ examples: [{ ...right, [name]: 5 }] })).toEqual([`/examples/0/${name}`])
    }
    expect(problems({ examples: [{ ...right, input_schema: { type: 'objekt' } }] })).toEqual([
      '/examples/0/input_schema/type',
    ])
  })

  it('PROF-4.6-01 requires a protocol that is a string', () => {
    expect(problems({ bindings: binding({ protocol: undefined }) })).toEqual(['/bindings/0/protocol'])
    expect(problems({ bindings: binding({ protocol: 5 }) })).toEqual(['/bindings/0/protocol'])
  })

  it('PROF-4.6-02 requires an endpoint that is a URI or a reference', () => {
    for (const endpoint of [undefined, null, 5, true, {}, ['https://a.example']]) {
      expect(problems({ bindings: binding({ endpoint }) }), String(endpoint)).toEqual(['/bindings/0/endpoint'])
    }
    for (const endpoint of ['https://a.example/b', 'urn:example:b', '/b', 'some-reference']) {
      expect(problems({ bindings: binding({ endpoint }) }), endpoint).toEqual([])
    }
  })

  it('PROF-4.6-03 accepts media types as an array', () => {
    expect(problems({ bindings: binding({ media_types: ['application/json'] }) })).toEqual([])
    expect(problems({ bindings: binding({ media_types: 'application/json' }) })).toEqual(['/bindings/0/media_types'])
  })

  it('PROF-4.6-04 accepts any interaction model', () => {
    for (const interaction_model of ['request-response', 'streaming', 'batch', 'other']) {
      expect(problems({ bindings: binding({ interaction_model }) })).toEqual([])
    }
    expect(problems({ bindings: binding({ interaction_model: 1 }) })).toEqual(['/bindings/0/interaction_model'])
  })

  it('PROF-4.6-05 accepts a priority that is an integer', () => {
    expect(problems({ bindings: binding({ priority: 1 }) })).toEqual([])
    expect(problems({ bindings: binding({ priority: 1.5 }) })).toEqual(['/bindings/0/priority'])
    expect(problems({ bindings: binding({ priority: '1' }) })).toEqual(['/bindings/0/priority'])
  })

  it('PROF-4.7-02 accepts unknown top-level members', () => {
    expect(problems({ foo: 1 })).toEqual([])
  })

  it.each(['active', 'inactive', 'suspended', 'deprecated', 'testing', 'paused'])(
    'PROF-4.8-01 accepts the status %s',
    (status) => {
      expect(problems({ status })).toEqual([])
    },
  )

  it('PROF-4.9-01 accepts the HR Core Automator', () => {
    expect(validateDocument('profile', fixture('FX-HR'))).toEqual([])
  })

  it('PROF-13.1-01 accepts the minimal object', () => {
    expect(validateDocument('profile', fixture('FX-D0'))).toEqual([])
  })

  it('is limited to 200 examples (C-76)', () => {
    const examples = (n: number) => Array.from({ length: n }, () => ({ text: 'a' }))
    expect(problems({ examples: examples(200) })).toEqual([])
    expect(problems({ examples: examples(201) })).toEqual(['/examples'])
  })
})

describe('a discovery request', () => {
  it('needs a non-empty query', () => {
    expect(() => parseDiscoveryRequest({})).toThrow('/query is required')
    expect(() => parseDiscoveryRequest({ query: '' })).toThrow('/query must not be empty')
    expect(() => parseDiscoveryRequest([])).toThrow('the document must be an object')
  })

  it('is returned unchanged, with unknown members', () => {
    const request = { query: 'translate', limit: 3, detail: 'full', required_tags: ['nlp'], unknown: { a: 1 } }
    expect(parseDiscoveryRequest(request)).toEqual(request)
  })

  it.each([
    { limit: 0 },
    { limit: 1.5 },
    { detail: 'all' },
    { required_tags: 'a' },
    { constraints: [] },
    { include_evidence: 1 },
  ])('rejects %j', (wrong) => {
    expect(() => parseDiscoveryRequest({ query: 'a', ...wrong })).toThrow(`/${Object.keys(wrong)[0]}`)
  })
})
