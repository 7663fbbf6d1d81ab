import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonObject, jsonValue } from '../../test/arbitraries.js'
import { fixture } from '../../test/fixtures.js'
import type { JsonObject, JsonValue } from '../json.js'
import { readRecord } from './read.js'
import { schemeOf } from './read-bindings.js'
import type { DocumentFormat } from './record.js'
import { redactRecord } from './redact.js'
import { toAgentCard } from './views/agent-card.js'
import { toAidip } from './views/aidip.js'
import { toDescriptor } from './views/descriptor.js'
import { toDirectory, toDirectorySummary } from './views/directory.js'
import { toMcpServer } from './views/mcp-server.js'
import { toCandidate } from './views/profile.js'

const DOCUMENT_FORMATS: DocumentFormat[] = ['aidip', 'profile', 'directory', 'descriptor', 'a2a', 'mcp']

const read = (format: DocumentFormat, document: JsonObject, id = 'some-id') => readRecord(format, document, id)

describe('readRecord', () => {
  it('never fails on members of unexpected types, nor do the views', () => {
    const name = fc.constantFrom(
      ...[
        'id',
        'name',
        'title',
        'description',
        'version',
        'publisher',
        'provider',
        'vendor',
        'capabilities',
        'tags',
        'endpoint',
        'url',
      ],
      ...[
        'supported_languages',
        'authentication',
        'auth',
        'status',
        'operations',
        'inputs',
        'outputs',
        'input_schema',
        'protocols',
        'base',
      ],
      ...[
        'updated_at',
        'expires_at',
        'sequence',
        'examples',
        'bindings',
        'constraints',
        'signature',
        'identity',
        'transport',
        'skills',
      ],
      ...[
        'supportedInterfaces',
        'additionalInterfaces',
        'securitySchemes',
        'remotes',
        'packages',
        'visibility',
        'private',
      ],
    )
    const odd = fc.oneof(
      jsonValue,
      fc.array(
        fc.oneof(
          jsonObject,
          fc.constantFrom<JsonValue[]>({ name: 5 }, { id: 1, name: 'x' }, { url: 1 }, { private: true }),
        ),
      ),
    )
    const document = fc
      .array(fc.tuple(name, odd), { maxLength: 8 })
      .map((entries): JsonObject => Object.fromEntries(entries))
    const facts = {
      baseUrl: 'https://a.example',
      number: 1,
      verification: {},
      lifetime: 60,
      receivedAt: 0,
      modifiedAt: 0,
    }
    fc.assert(
      fc.property(fc.constantFrom(...DOCUMENT_FORMATS), document, (format, any) => {
        for (const record of [read(format, any), redactRecord(read(format, any))]) {
          for (const view of [toAidip, toDirectory, toDirectorySummary, toDescriptor, toAgentCard, toMcpServer])
            view(record, facts)
          toCandidate(record, facts, 'full')
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('accepts lone surrogates, which documents fetched from elsewhere may contain', () => {
    const [binding] = read('mcp', {
      packages: [{ identifier: 'a\ud800', registryType: 'npm', version: '\udfff' }],
    }).bindings
    expect(binding?.endpoint).toMatch(/^pkg:npm\/a/)
  })

  it('reads the name of an agent in the directory as its id (C-32)', () => {
    expect(read('directory', fixture('FX-SUM'), 'summarizer-v2').name).toBe('summarizer-v2')
    expect(read('mcp', { name: 'io.example/x', title: 'X' }).name).toBe('X')
    expect(read('profile', {}, 'a').name).toBe('a')
  })

  it.each([
    [{ publisher: 'A', provider: 'B' }, 'A'],
    [{ provider: 'B' }, 'B'],
    [{ vendor: 'C' }, 'C'],
    [{ provider: { organization: 'D' } }, 'D'],
    [{ publisher: 5, vendor: 'E' }, 'E'],
    [{ provider: { name: 'F' } }, undefined],
  ])('reads the publisher of %j (C-12)', (document, publisher) => {
    expect(read('aidip', document).publisher).toBe(publisher)
  })

  it('PROF-4.1-09 reads an agent without a status as active', () => {
    expect(read('profile', {}).status).toBe('active')
    expect(read('profile', { status: 'testing' }).status).toBe('testing')
  })

  it('reads visibility; unknown values count as public (C-95)', () => {
    expect(
      ['restricted', 'private', 'public', 'x', 5].map((visibility) => read('aidip', { visibility }).visibility),
    ).toEqual(['restricted', 'private', 'public', 'public', 'public'])
  })

  it('reads only RFC 3339 timestamps', () => {
    const record = read('directory', { updated_at: '2026-05-08T00:00:00Z', expires_at: '2026-05-08T02:00:00+02:00' })
    expect(record).toMatchObject({ updatedAt: '2026-05-08T00:00:00Z', expiresAt: Date.parse('2026-05-08T00:00:00Z') })
    const odd = read('directory', { updated_at: 'May 8 2026', expires_at: '5' })
    expect([odd.updatedAt, odd.expiresAt]).toEqual([undefined, undefined])
  })
})

describe('capabilities and operations', () => {
  it('AIDIP-2-01 reads strings as skills, and skips items without a name', () => {
    expect(
      read('aidip', { capabilities: ['translation', '', 5, { name: 'x', type: 'own' }, {}] }).capabilities,
    ).toMatchObject([
      { name: 'translation', type: 'skill' },
      { name: 'x', type: 'own' },
    ])
  })

  it('reads the skills of a card by their ids, and ignores its flags (C-10)', () => {
    const record = read('a2a', {
      capabilities: { streaming: true },
      skills: [{ id: 's', name: 'S', tags: ['t'] }, { name: 'only' }, { id: 5, name: 'N' }],
    })
    expect(record.capabilities.map(({ name, type }) => [name, type])).toEqual([
      ['s', 'skill'],
      ['only', 'skill'],
      ['N', 'skill'],
    ])
    expect(record.tags).toEqual(['t'])
    expect(record.capabilities[0]?.source).toEqual({ id: 's', name: 'S', tags: ['t'] })
  })

  it('AIDIP-2-03 reads several operations, each with its own schemas', () => {
    const operations = [
      { name: 'translateText', inputs: { text: 'string' }, outputs: { a: 'string' } },
      { name: 'detectLanguage', inputs: { type: 'object' }, endpoint: '/detect' },
    ]
    expect(read('aidip', { operations }).operations).toEqual([
      operations[0],
      { ...operations[1], outputs: { type: 'object' } },
    ])
  })

  it('AIDIP-3.2-07 reads inputs and outputs at the top level as one implied operation', () => {
    const [operation, ...others] = read('aidip', { inputs: { text: 'string' }, outputs: { type: 'object' } }).operations
    expect(operation).toEqual({ name: 'invoke', inputs: { text: 'string' }, outputs: { type: 'object' } })
    expect(others).toEqual([])
  })

  it('derives operations from the capabilities of other drafts (C-08)', () => {
    expect(read('directory', fixture('FX-SUM')).operations.map(({ name, inputs }) => [name, inputs.type])).toEqual([
      ['summarize', 'object'],
      ['extract_entities', 'object'],
    ])
  })

  it('combines the tags of all capabilities in drafts that tag capabilities (C-17)', () => {
    const capabilities = [
      { name: 'a', type: 'tool', tags: ['x', 'y'] },
      { name: 'b', type: 'tool', tags: ['y', 5] },
    ]
    expect(read('directory', { capabilities }).tags).toEqual(['x', 'y'])
  })

  it('reads examples of the profile, of skills and of operations', () => {
    const document = {
      examples: [{ id: 'e', text: 'one', tags: ['t'] }, { id: 'none' }],
      skills: [{ id: 's', examples: ['two'] }],
      operations: [{ name: 'o', examples: [{ input: { text: 'three', n: 3 } }, { input: {} }] }],
    }
    expect(read('profile', document).examples.map(({ text }) => text)).toEqual(['one', 'two', 'three'])
  })
})

describe('bindings', () => {
  const endpoints = (format: DocumentFormat, document: JsonObject) =>
    read(format, document).bindings.map(({ protocol, endpoint }) => `${protocol} ${endpoint}`)

  it('PROF-4.6-05 are sorted by priority, lowest first, those without one last (C-19)', () => {
    const bindings = [
      { protocol: 'a', endpoint: '1' },
      { protocol: 'b', endpoint: '2', priority: 5 },
      { protocol: 'c', endpoint: '3', priority: -1 },
      { protocol: 'd', endpoint: '4' },
      { protocol: 'e', endpoint: '5', priority: 5 },
    ]
    expect(endpoints('profile', { bindings })).toEqual(['c 3', 'b 2', 'e 5', 'a 1', 'd 4'])
  })

  it.each<[DocumentFormat, JsonObject, string[]]>([
    ['aidip', { endpoint: 'https://a.example/' }, ['https https://a.example/']],
    ['aidip', { endpoint: '/path' }, ['https /path']],
    [
      'directory',
      { base: 'https://a.example/', protocols: ['mcp', '', 'a2a'] },
      ['mcp https://a.example/', 'a2a https://a.example/'],
    ],
    ['directory', { base: 'grpc://a.example' }, ['grpc grpc://a.example']],
    [
      'descriptor',
      {
        url: 'agent://a.example/',
        transport: { wss: 'wss://a.example/', unix: { endpoint: '/run/x' }, odd: 5, '': 'x:y' },
      },
      ['wss wss://a.example/', 'unix /run/x', 'x x:y', 'agent agent://a.example/'],
    ],
    ['descriptor', { url: '', endpoint: 5 }, []],
    [
      'a2a',
      {
        url: 'https://a.example/',
        additionalInterfaces: [{ url: 'https://b.example/' }, { url: 'https://a.example/' }],
      },
      ['a2a https://a.example/', 'a2a https://b.example/'],
    ],
    ['a2a', { supportedInterfaces: [{ url: 'https://c.example/' }, {}] }, ['a2a https://c.example/']],
    [
      'mcp',
      {
        remotes: [{ type: 'sse', url: 'https://a.example/' }],
        packages: [{ registryType: 'npm', identifier: '@a/b', version: '1.0' }],
      },
      ['mcp https://a.example/', 'mcp pkg:npm/@a/b@1.0'],
    ],
  ])('of the format %s are read from %j (C-18)', (format, document, expected) => {
    expect(endpoints(format, document)).toEqual(expected)
  })

  it('of an A2A 0.3 card have the transport of the main URL and of the other interfaces', () => {
    const sources = (document: JsonObject) => read('a2a', document).bindings.map(({ source }) => source)
    const url = 'https://a.example/'
    expect(sources({ url })).toEqual([{ url, transport: 'JSONRPC', protocolVersion: '0.3.0' }])
    expect(sources({ url, preferredTransport: 'HTTP+JSON', protocolVersion: '0.2.6' })).toEqual([
      { url, transport: 'HTTP+JSON', protocolVersion: '0.2.6' },
    ])
  })

  it('have the protocol of their URI scheme', () => {
    expect(['HTTPS://a', 'agent+wss://a', '/x', 'x y'].map(schemeOf)).toEqual(['https', 'agent+wss', 'https', 'https'])
  })
})

describe('security of cards', () => {
  it.each([
    [{ a: { type: 'apiKey' } }, 'api_key'],
    [{ a: { type: 'unknown' }, b: { type: 'http', scheme: 'bearer' } }, 'oauth2_bearer'],
    [{ a: { mtlsSecurityScheme: {} } }, 'mtls'],
    [{ a: { apiKeySecurityScheme: {} } }, 'api_key'],
    [{ a: 5, constructor: { openIdConnectSecurityScheme: {} } }, 'oauth2_bearer'],
    [{}, undefined],
  ])('%j is read as %s', (securitySchemes, type) => {
    expect(read('a2a', { securitySchemes }).authentication?.type).toBe(type)
  })
})
