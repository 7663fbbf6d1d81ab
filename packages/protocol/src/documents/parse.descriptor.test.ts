import { describe, expect, it } from 'vitest'
import { fixture } from '../../test/fixtures.js'
import type { JsonValue } from '../json.js'
import { validateDocument } from './parse.js'

/** Locations of the issues in the sample of AURI appendix A after changing some members. */
const problems = (changes: Record<string, JsonValue | undefined>): string[] =>
  validateDocument('descriptor', fixture('FX-DESC', changes)).map(({ at }) => at)

const capability = (changes: Record<string, JsonValue>) => ({ capabilities: [{ name: 'a', ...changes }] })

describe('an agent.json', () => {
  it('AURI-A-01 is accepted as published, with the version quoted', () => {
    expect(validateDocument('descriptor', fixture('FX-DESC'))).toEqual([])
  })

  it('AURI-7-02 may be an agent card', () => {
    expect(problems({ capabilities: { streaming: true } })).toEqual([])
  })

  it('AURI-7-04 needs a name, but not a version when read (C-25)', () => {
    expect(problems({ name: undefined })).toEqual(['/name'])
    expect(problems({ version: undefined })).toEqual([])
    expect(problems({ version: 3.1 })).toEqual(['/version'])
  })

  it('AURI-7-05 maps older versions to endpoints', () => {
    expect(problems({ supportedVersions: { '3.0.0': '/v3/', '1.0': '/version-1/' } })).toEqual([])
    expect(problems({ supportedVersions: { '3.0.0': 3 } })).toEqual(['/supportedVersions/3.0.0'])
    expect(problems({ supportedVersions: ['3.0.0'] })).toEqual(['/supportedVersions'])
  })

  it('AURI-7-11 checks the types of behavioural metadata', () => {
    for (const name of ['isDeterministic', 'requiresContext', 'memoryEnabled', 'confidenceEstimation']) {
      expect(problems(capability({ [name]: true }))).toEqual([])
      expect(problems(capability({ [name]: 'no' }))).toEqual([`/capabilities/0/${name}`])
    }
    for (const responseLatency of ['low', 'medium', 'high'])
      expect(problems(capability({ responseLatency }))).toEqual([])
    expect(problems(capability({ responseLatency: 'fast' }))).toEqual(['/capabilities/0/responseLatency'])
  })

  it.each(['agent2agent', 'fipa-acl', 'kqml', 'contract-net', 'emergent', 'own'])(
    'AURI-7-13 accepts the interaction model %s',
    (interactionModel) => {
      expect(problems({ interactionModel })).toEqual([])
    },
  )

  it('AURI-7-15, AURI-7-16 accepts formats for each capability, and content types that are an object', () => {
    const formats = { inputFormats: ['application/json'], outputFormats: ['text/plain'] }
    expect(
      problems(
        capability({
          ...formats,
          contentTypes: { inputFormat: ['application/json'], outputFormat: ['application/json'] },
        }),
      ),
    ).toEqual([])
    expect(problems(capability({ contentTypes: 'application/json' }))).toEqual(['/capabilities/0/contentTypes'])
  })

  it('AURI-11-01 accepts namespaced capabilities, other transports and unknown members', () => {
    expect(
      problems({
        ...capability({ name: 'com.example:plan' }),
        transport: { 'x-pigeon': 'pigeon://a' },
        'com.example.mood': 'good',
      }),
    ).toEqual([])
  })
})

describe('an A2A card', () => {
  const card = { name: 'a', description: 'b', version: '1', capabilities: {}, skills: [{ id: 's', name: 'S' }] }

  it('needs a url (0.3) or interfaces (1.0)', () => {
    expect(validateDocument('a2a', { ...card, url: 'https://a.example/' })).toEqual([])
    expect(
      validateDocument('a2a', {
        ...card,
        supportedInterfaces: [{ url: 'https://a.example/', protocolBinding: 'JSONRPC' }],
      }),
    ).toEqual([])
    expect(validateDocument('a2a', card)).toEqual([
      { at: '/url', message: 'is required, unless the card has supportedInterfaces' },
    ])
  })

  it('needs skills with an id and a name', () => {
    expect(
      validateDocument('a2a', { ...card, url: 'https://a.example/', skills: [{ name: 'S' }] }).map(({ at }) => at),
    ).toEqual(['/skills/0/id'])
  })
})

describe('an MCP server.json', () => {
  it('needs name, description and version, and may have remotes and packages', () => {
    expect(
      validateDocument('mcp', {
        name: 'a',
        description: 'b',
        version: '1',
        remotes: [{ type: 'sse', url: 'https://a.example/' }],
      }),
    ).toEqual([])
    expect(validateDocument('mcp', {}).map(({ at }) => at)).toEqual(['/name', '/description', '/version'])
    expect(
      validateDocument('mcp', { name: 'a', description: 'b', version: '1', packages: [{}] }).map(({ at }) => at),
    ).toEqual(['/packages/0/registryType', '/packages/0/identifier'])
  })
})
