import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../json.js'
import { readRecord } from '../read.js'
import type { DocumentFormat, RegistryFacts } from '../record.js'
import { ardIdentifier, ardTerm, toArdEntry, toRemoteArdSummary } from './ard-entry.js'

const FACTS: RegistryFacts = {
  baseUrl: 'https://directory.example',
  number: 1,
  verification: { state: 'self-asserted' },
  lifetime: 60,
  receivedAt: 0,
  modifiedAt: 0,
}
const record = (members: JsonObject = {}, format: DocumentFormat = 'aidip', id = 't') =>
  readRecord(
    format,
    { name: 'T', description: 'D', endpoint: 'https://t.example', capabilities: ['c'], ...members },
    id,
  )
const entryOf = (members?: JsonObject, facts: Partial<RegistryFacts> = {}) =>
  toArdEntry(record(members), { ...FACTS, ...facts })

describe('an ARD entry', () => {
  it('has the required terms and exactly one of url and data (ARD 0.91 §4.2)', () => {
    expect(entryOf()).toEqual({
      identifier: 'urn:air:directory.example:agent:t',
      displayName: 'T',
      type: 'application/agent-card+json',
      url: 'https://directory.example/agents/t/agent.json',
      description: 'D',
      capabilities: ['c'],
      updatedAt: '1970-01-01T00:00:00.000Z',
      metadata: { id: 't', status: 'active' },
    })
  })

  it('has the type and the view of the protocol that the agent prefers', () => {
    const a2a = record({ url: 'https://t.example/a2a', skills: [] }, 'a2a')
    expect(toArdEntry(a2a, FACTS)).toMatchObject({
      type: 'application/a2a-agent-card+json',
      url: 'https://directory.example/agents/t/agent-card.json',
    })
    const mcp = record({ remotes: [{ type: 'streamable-http', url: 'https://t.example/mcp' }] }, 'mcp')
    expect(toArdEntry(mcp, FACTS)).toMatchObject({
      type: 'application/mcp-server-card+json',
      url: 'https://directory.example/agents/t/server.json',
    })
  })

  it('has two to five example queries, or none (ARD 0.9, schema)', () => {
    const examples = (count: number) => Array.from({ length: count }, (_, i) => ({ text: `example ${i}` }))
    expect(entryOf({ examples: examples(1) })).not.toHaveProperty('representativeQueries')
    expect(entryOf({ examples: examples(2) }).representativeQueries).toEqual(['example 0', 'example 1'])
    expect(entryOf({ examples: examples(9) }).representativeQueries).toHaveLength(5)
    expect(entryOf({ examples: [{ text: 'same' }, { text: 'same' }] })).not.toHaveProperty('representativeQueries')
  })

  it('is short, however long the document is', () => {
    const many = Array.from({ length: 100 }, (_, i) => `word-${i}`)
    const entry = entryOf({ description: 'x'.repeat(5000), tags: many, capabilities: many })
    expect(JSON.stringify(entry).length).toBeLessThan(2500)
    expect(ardTerm('capabilities')?.(record({ capabilities: many }), () => FACTS)).toHaveLength(100)
  })
})

describe('the identifier', () => {
  const own = 'urn:air:acme.com:agents:t'
  const identify = (verification: JsonObject, facts: Partial<RegistryFacts> = {}) =>
    ardIdentifier(record({}, 'aidip', own), { ...FACTS, verification, ...facts })
  const assigned = 'urn:air:directory.example:agent:urn_x3aair_x3aacme.com_x3aagents_x3at'

  it('of the publisher is kept if its domain is proven, or the agent was read there (AI Catalog, Catalog Projection)', () => {
    expect(identify({ domain: { name: 'acme.com', state: 'proven' } })).toBe(own)
    expect(identify({ crawled: { url: 'https://acme.com/.well-known/ard.json' } })).toBe(own)
  })

  it('is assigned by the directory otherwise', () => {
    expect(identify({ state: 'self-asserted' })).toBe(assigned)
    expect(identify({ domain: { name: 'other.example', state: 'proven' } })).toBe(assigned)
    expect(identify({ crawled: { url: 'https://acme.com.evil.example/x' } })).toBe(assigned)
  })

  it('of a copy is that of its origin', () => {
    const provenance = { origin_service: 'https://origin.example' }
    expect(ardIdentifier(record(), { ...FACTS, provenance })).toBe('urn:air:origin.example:agent:t')
  })
})

describe('the trust manifest', () => {
  it('lists what the directory has verified, with an identity in the domain of the identifier (ARD 0.91 §4.5.1)', () => {
    const verification = {
      state: 'verified',
      signature: { state: 'valid' },
      domain: { name: 't.example', state: 'proven' },
    }
    const evidence = { uri: 'https://directory.example/agents/t', mediaType: 'application/json' }
    expect(entryOf({}, { verification, certification: { by: 'x' } }).trustManifest).toEqual({
      identity: 'https://directory.example',
      identityType: 'https',
      attestations: ['domain-control', 'document-signature', 'operator-verification', 'certification'].map((type) => ({
        type,
        ...evidence,
      })),
    })
  })

  it('says where a copy or a crawled agent comes from', () => {
    expect(entryOf({}, { provenance: { origin_service: 'https://origin.example' } }).trustManifest).toEqual({
      identity: 'https://origin.example',
      identityType: 'https',
      provenance: [{ relation: 'copiedFrom', sourceId: 'https://origin.example' }],
    })
    expect(entryOf({}, { verification: { crawled: { url: 'https://t.example/card' } } }).trustManifest).toMatchObject({
      provenance: [{ relation: 'publishedFrom', sourceId: 'https://t.example/card' }],
    })
  })

  it('is left out if there is nothing to say (AI Catalog, Manifest Validity), also if a signature is not valid', () => {
    expect(entryOf()).not.toHaveProperty('trustManifest')
    expect(
      entryOf({}, { verification: { state: 'self-asserted', signature: { state: 'invalid' } } }),
    ).not.toHaveProperty('trustManifest')
  })
})

it('contains the artifact if the agent is registered elsewhere', () => {
  const remote = toRemoteArdSummary(record(), { ...FACTS, baseUrl: 'https://peer.example' })
  expect(remote).toMatchObject({ identifier: 'urn:air:peer.example:agent:t', data: { name: 'T' } })
  expect(remote).not.toHaveProperty('url')
})

it('finds the values of dot paths, in lists too (ARD 0.91 §5.3.1)', () => {
  const facts = { ...FACTS, verification: { domain: { name: 't.example', state: 'proven' } } }
  const at = (path: string) => ardTerm(path)?.(record({ tags: ['a', 'b'] }), () => facts)
  expect(at('tags')).toEqual(['a', 'b'])
  expect(at('publisher')).toEqual(['directory.example'])
  expect(at('trustManifest.attestations.type')).toEqual(['domain-control'])
  expect(at('metadata.status')).toEqual(['active'])
  expect(at('metadata.constructor')).toEqual([])
  for (const path of ['nonsense', 'tags.0', 'metadata', '__proto__', 'constructor'])
    expect(ardTerm(path), path).toBeUndefined()
  expect(ardTerm('identifier')?.(record(), () => undefined)).toEqual([])
})
