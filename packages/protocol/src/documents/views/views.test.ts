import { describe, expect, it } from 'vitest'
import { fixture } from '../../../test/fixtures.js'
import type { JsonObject, JsonValue } from '../../json.js'
import { lintDescriptor } from '../lint-descriptor.js'
import { readRecord } from '../read.js'
import type { AgentRecord, DocumentFormat, RegistryFacts } from '../record.js'
import { redactRecord } from '../redact.js'
import { cardKindOf, toAgentCard } from './agent-card.js'
import { toAidip, toAidipSummary } from './aidip.js'
import { toDescriptor } from './descriptor.js'
import { toDirectory, toDirectorySummary } from './directory.js'
import { DIRECTORY_META, toMcpServer } from './mcp-server.js'
import { toCandidate, toFreshness, toProfile } from './profile.js'

const FACTS: RegistryFacts = {
  baseUrl: 'https://directory.example',
  number: 7,
  verification: { state: 'self-asserted' },
  lifetime: 600,
  receivedAt: Date.parse('2026-05-08T00:00:00Z'),
  modifiedAt: Date.parse('2026-05-09T00:00:00Z'),
}

const ADDED = { verification: { state: 'self-asserted' } }

const sample = (
  format: DocumentFormat,
  id: string,
  changes: Record<string, JsonValue | undefined> = {},
  agent = 'agent-12345',
): AgentRecord => readRecord(format, fixture(id, changes), agent)

const T01 = (changes: Record<string, JsonValue | undefined> = {}) => sample('aidip', 'FX-T01', changes)
const HR = (changes: Record<string, JsonValue | undefined> = {}) =>
  sample('profile', 'FX-HR', changes, 'https://agents.example.net/id/hr-core-automator')
const SUM = (changes: Record<string, JsonValue | undefined> = {}) =>
  sample('directory', 'FX-SUM', changes, 'summarizer-v2')
const DESC = (changes: Record<string, JsonValue | undefined> = {}) =>
  sample('descriptor', 'FX-DESC', changes, 'planner')

describe('the AIDIP view', () => {
  it('AIDIP-3-02, AIDIP-3.3-01, AIDIP-3.1-03, AIDIP-3.1-07 returns the draft’s sample as it was registered', () => {
    expect(toAidip(T01(), FACTS)).toEqual({ ...fixture('FX-T01'), ...ADDED })
  })

  it('AIDIP-3.1-17, AIDIP00-4-11 keeps unknown members', () => {
    const more = { pricing: { per_call: 0.01 }, x: 1, '@context': 'https://schema.org', constructor: [] }
    expect(toAidip(T01(more), FACTS)).toMatchObject(more)
  })

  it('AIDIP00-4-08 writes authentication given as a string as an object in 01, and unchanged in 00', () => {
    const record = sample('aidip', 'FX-T00', {}, 'translator-001')
    expect(toAidip(record, FACTS).authentication).toEqual({ type: 'api_key' })
    expect(toAidip(record, FACTS, '00').authentication).toBe('API Key')
  })

  it('AIDIP-3.1-14 returns an authentication object with a canonical type', () => {
    const sent = { type: 'oauth2_bearer', scopes: ['invoke'], realm: { a: 1 } }
    expect(toAidip(T01({ authentication: sent }), FACTS).authentication).toEqual(sent)
    expect(toAidip(T01({ authentication: { ...sent, type: 'OAuth2' } }), FACTS).authentication).toEqual(sent)
  })

  it('AIDIP00-4-09, AIDIP00-4-10 returns the fields of 00, and separates the publisher’s claim of verification from ours', () => {
    const document = fixture('FX-T00', { license: 'MIT', last_update: '2025-01-01', protocols: ['https'] })
    const record = readRecord('aidip', document, 'translator-001')
    expect(toAidip(record, FACTS, '00')).toEqual({ ...document, ...ADDED })
    expect(
      toAidip(record, { ...FACTS, verification: { state: 'verified', by: 'us' }, qualityScore: 3 }, '00'),
    ).toMatchObject({
      certification: { verified: true, quality_score: 4.8 },
      verification: { state: 'verified', by: 'us', quality_score: 3 },
    })
  })

  it('calls the publisher "publisher" in 01 and "provider" in 00 (C-12)', () => {
    expect(toAidip(sample('aidip', 'FX-T00'), FACTS)).toMatchObject({ publisher: 'ExampleAI', provider: 'ExampleAI' })
    expect(toAidip(T01(), FACTS, '00')).toMatchObject({ publisher: 'ExampleAI Inc.', provider: 'ExampleAI Inc.' })
  })

  it('AIDIP-4.3.1-08 has a summary without operations', () => {
    expect(toAidipSummary(T01(), FACTS)).toEqual({
      id: 'agent-12345',
      name: 'Chinese-English Translator',
      description: 'Translates text between Chinese and English with high accuracy using a fine-tuned model.',
      endpoint: 'https://api.example.com/agents/translate',
      capabilities: ['translation'],
      tags: ['nlp', 'chinese', 'english', 'cloud'],
      status: 'active',
    })
  })

  it('shows an agent of the Agent Directory under its name, with its capabilities as operations (C-08, C-32)', () => {
    expect(toAidip(SUM(), FACTS)).toMatchObject({
      id: 'summarizer-v2',
      name: 'summarizer-v2',
      capabilities: ['summarize', 'extract_entities'],
      endpoint: 'https://agents.example.com/summarizer-v2',
      publisher: 'Example Corp',
      operations: [
        { name: 'summarize', inputs: { required: ['text'] } },
        { name: 'extract_entities', inputs: { type: 'object' } },
      ],
    })
  })

  it('AIDIP00-4-07 resolves a path against the directory’s base URL in other views (C-18)', () => {
    const record = T01({ endpoint: '/agents/t1' })
    expect(toAidip(record, FACTS).endpoint).toBe('/agents/t1')
    expect(toDirectory(record, FACTS).base).toBe('https://directory.example/agents/t1')
  })

  it('prefers an HTTP endpoint, and falls back to the gateway for an agent without a URI', () => {
    const bindings = [
      { protocol: 'grpc', endpoint: 'grpc://a.example' },
      { protocol: 'https', endpoint: 'https://a.example/' },
    ]
    expect(toAidip(HR({ bindings }), FACTS).endpoint).toBe('https://a.example/')
    const reference = toAidip(HR({ bindings: [{ protocol: 'x', endpoint: 'a reference' }] }), FACTS)
    expect(reference.endpoint).toBe(
      'https://directory.example/agents/https%3A%2F%2Fagents.example.net%2Fid%2Fhr-core-automator/invoke',
    )
  })

  it('keeps members of another draft, and keeps private ones private', () => {
    const shown = toAidip(SUM({ visibility: 'restricted', private: ['vendor'], license: 'MIT', tags: 5 }), FACTS)
    expect(shown).toMatchObject({
      visibility: 'restricted',
      private: ['vendor'],
      license: 'MIT',
      identity_type: 'aip',
      tags: [],
    })
  })

  it("shows the operator's status, and when the registration expires", () => {
    const expiresAt = Date.parse('2027-01-01T00:00:00Z')
    expect(toAidip(T01(), { ...FACTS, status: 'suspended', expiresAt })).toMatchObject({
      status: 'suspended',
      expires_at: '2027-01-01T00:00:00.000Z',
    })
    const own = '2027-01-01T02:00:00+02:00'
    expect(toAidip(T01({ expires_at: own }), { ...FACTS, expiresAt }).expires_at).toBe(own)
  })
})

describe('the profile view', () => {
  it('PROF-4.9-01 returns the sample as it was registered', () => {
    expect(toProfile(HR(), FACTS)).toEqual({ ...fixture('FX-HR'), ...ADDED, freshness: expect.any(Object) })
  })

  it('PROF-11-02 maps a document of another draft according to the table', () => {
    const record = T01({ constraints: { region: 'apac' }, updated_at: '2026-05-08T00:00:00Z' })
    expect(toProfile(record, FACTS)).toMatchObject({
      id: 'agent-12345',
      name: 'Chinese-English Translator',
      description: 'Translates text between Chinese and English with high accuracy using a fine-tuned model.',
      tags: ['nlp', 'chinese', 'english', 'cloud', 'translation'],
      examples: [{ text: '你好世界 zh en' }],
      bindings: [{ protocol: 'https', endpoint: 'https://api.example.com/agents/translate' }],
      auth: { type: 'api_key', instructions: "Include 'X-API-Key' header with your API key." },
      constraints: { region: 'apac' },
      status: 'active',
      version: '1.2.0',
      updated_at: '2026-05-08T00:00:00Z',
    })
  })

  it('PROF-11-02 maps the skills of an A2A card and their examples', () => {
    const card = {
      name: 'a',
      description: 'b',
      version: '1',
      url: 'https://a.example/',
      capabilities: {},
      skills: [{ id: 's', name: 'S', tags: ['t'], examples: ['Do it.'] }],
      securitySchemes: { k: { type: 'apiKey' } },
    }
    expect(toProfile(readRecord('a2a', card, 'x'), FACTS)).toMatchObject({
      tags: ['t', 's'],
      examples: [{ text: 'Do it.' }],
      bindings: [{ protocol: 'a2a', endpoint: 'https://a.example/' }],
      auth: { type: 'api_key' },
    })
  })

  it('PROF-4.8-03 says when the metadata was updated, received and indexed', () => {
    expect(toFreshness(HR(), { ...FACTS, expiresAt: Date.parse('2027-01-01T00:00:00Z') })).toEqual({
      metadata_updated_at: '2026-05-08T00:00:00Z',
      indexed_at: '2026-05-09T00:00:00.000Z',
      received_at: '2026-05-08T00:00:00.000Z',
      expires_at: '2027-01-01T00:00:00.000Z',
    })
  })

  it('renders candidates at three levels of detail', () => {
    expect(Object.keys(toCandidate(HR(), FACTS, 'minimal'))).toEqual(['id', 'status', 'bindings'])
    expect(toCandidate(HR(), FACTS, 'minimal').bindings).toEqual([
      { protocol: 'https', endpoint: 'https://agents.example.net/hr-core/invoke' },
    ])
    expect(toCandidate(HR({ signature: { kid: 'key-1' } }), FACTS, 'summary')).toMatchObject({
      name: 'HR Core Automator',
      credential_refs: ['key-1'],
    })
    expect(toCandidate(HR(), FACTS, 'summary')).not.toHaveProperty('examples')
    expect(toCandidate(HR({ status: undefined }), FACTS, 'full')).toMatchObject({
      status: 'active',
      examples: expect.any(Array),
    })
  })

  it.each(['minimal', 'summary', 'full'] as const)('shows only bindings of requested protocols (%s)', (detail) => {
    const bindings = [
      { protocol: 'https', endpoint: 'https://agents.example.net/' },
      { protocol: 'mcp/1.0', endpoint: 'https://agents.example.net/mcp' },
    ]
    const shown = (record: AgentRecord, protocols: string[]) => toCandidate(record, FACTS, detail, protocols).bindings
    for (const record of [HR({ bindings }), T01({ bindings })]) {
      expect(shown(record, ['MCP'])).toEqual([expect.objectContaining(bindings[1])])
      expect(shown(record, ['matrix'])).toEqual([])
    }
    expect(shown(HR({ bindings }), [])).toHaveLength(2)
  })
})

describe('the directory view', () => {
  it('AD-4.1-17, AD-4.1-20, AD-4.1-21 returns a registration with its lifetime', () => {
    expect(toDirectory(SUM(), FACTS)).toEqual({
      ...fixture('FX-SUM'),
      ...ADDED,
      agent: 'summarizer-v2',
      lt: 600,
      href: '/ad/r/7',
    })
  })

  it('AD-4.1-11 lists what is needed to choose and contact an agent', () => {
    expect(toDirectorySummary(SUM(), FACTS)).toEqual({
      agent: 'summarizer-v2',
      base: 'https://agents.example.com/summarizer-v2',
      description: 'Summarizes documents and extracts named entities',
      protocols: ['a2a'],
      capabilities: [
        { name: 'summarize', type: 'tool' },
        { name: 'extract_entities', type: 'tool' },
      ],
      href: '/ad/r/7',
    })
  })

  it('gives the capabilities of an AIDIP agent its tags, and its operations as tools (C-10, C-17, C-20)', () => {
    expect(toDirectory(T01(), FACTS)).toMatchObject({
      base: 'https://api.example.com/agents/translate',
      protocols: ['https'],
      vendor: 'ExampleAI Inc.',
      capabilities: [
        { name: 'translation', type: 'skill', tags: ['nlp', 'chinese', 'english', 'cloud'] },
        {
          name: 'translateText',
          type: 'tool',
          tags: ['nlp', 'chinese', 'english', 'cloud'],
          input_schema: { type: 'object' },
        },
      ],
    })
  })

  it('AD-5.1-04 omits capabilities with invalid names, and keeps those named like its paths', () => {
    const capabilities = ['a*b', 'search', 'x'.repeat(256), 'search']
    const shown = toDirectory(T01({ capabilities, operations: [{ name: 'search', inputs: {} }] }), FACTS)
    expect(shown.capabilities).toMatchObject([{ name: 'search', type: 'skill' }])
  })
})

describe('the agent.json', () => {
  it('AURI-7-04, AURI-7-05, AURI-7-13, AURI-7-15, AURI-7-16, AURI-7-18, AURI-7-24 keeps what its publisher wrote', () => {
    const more = {
      'com.example.mood': { of: ['the', 'day'] },
      mcp: { tools: [] },
      capabilities: [
        {
          name: 'com.example:plan',
          inputFormats: ['application/json'],
          contentTypes: { inputFormat: ['application/json'] },
        },
      ],
    }
    expect(toDescriptor(DESC(more), FACTS)).toEqual({
      ...fixture('FX-DESC', more),
      ...ADDED,
      versionNegotiation: expect.any(Object),
      security: expect.any(Object),
      errorFormat: expect.any(String),
    })
  })

  it('AURI-11-01 keeps namespaced capabilities and unknown members for readers of other drafts too', () => {
    const record = DESC({ capabilities: [{ name: 'com.example:plan' }], 'com.example.mood': 'good' })
    expect(toAidip(record, FACTS)).toMatchObject({
      capabilities: ['com.example:plan', 'agent-skill-1'],
      'com.example.mood': 'good',
    })
    expect(toDirectory(record, FACTS)).toMatchObject({ 'com.example.mood': 'good' })
  })

  it('AURI-7-22, AURI-10-07 documents version negotiation, and the security of each transport', () => {
    const bindings = [
      { protocol: 'https', endpoint: 'https://a.example/', priority: 2 },
      { protocol: 'wss', endpoint: 'wss://a.example/', priority: 1 },
    ]
    const shown = toDescriptor(HR({ bindings, auth: { schemes: ['OAuth2', 'mTLS'] } }), FACTS)
    expect(shown).toMatchObject({
      versionNegotiation: { preferred: 'header', header: 'X-Agent-Version', query: 'version' },
      url: 'wss://a.example/',
      transport: { wss: 'wss://a.example/', https: 'https://a.example/' },
      security: { wss: ['OAuth2', 'mTLS'], https: ['OAuth2', 'mTLS'] },
    })
    expect(lintDescriptor(shown).errors).toEqual([])
    expect(toDescriptor(DESC({ versionNegotiation: 'path' }), FACTS).versionNegotiation).toBe('path')
  })

  it('AURI-7-03, AURI-7-10, AURI-7-19 of an agent of another draft has a context and lists each capability with description, tags and version', () => {
    const shown = toDescriptor(T01(), FACTS)
    expect(shown).toMatchObject({
      '@context': 'https://schema.org',
      name: 'Chinese-English Translator',
      version: '1.2.0',
      provider: { organization: 'ExampleAI Inc.' },
      authentication: { schemes: ['api_key'] },
      capabilities: [
        {
          name: 'translation',
          version: '1.2.0',
          description: expect.any(String),
          tags: ['nlp', 'chinese', 'english', 'cloud'],
        },
        {
          name: 'translateText',
          version: '1.2.0',
          description: 'Translates text from source language to target language.',
          tags: expect.any(Array),
          input: { type: 'object' },
          output: { type: 'object' },
        },
      ],
    })
    expect(lintDescriptor(shown).warnings.map(({ at }) => at)).toEqual([
      '/capabilities/0/input',
      '/capabilities/0/output',
    ])
  })

  it('has a semantic version and a capability even if the agent has neither', () => {
    const shown = toDescriptor(readRecord('directory', { base: 'https://a.example/' }, 'a'), FACTS)
    expect(shown).toMatchObject({ version: '0.0.0', capabilities: [{ name: 'invoke', version: '0.0.0' }] })
  })

  it('has no member that our own parser would reject', () => {
    const bindings = [{ protocol: '__proto__', endpoint: 'https://a.example/' }]
    expect(JSON.stringify(toDescriptor(HR({ bindings }), FACTS).transport)).toBe('{}')
  })
})

describe('the A2A card', () => {
  it('is returned unchanged in its own version', () => {
    const card: JsonObject = {
      name: 'a',
      description: 'b',
      version: '1',
      url: 'https://a.example/',
      protocolVersion: '0.3.0',
      capabilities: { streaming: true },
      skills: [],
    }
    expect(toAgentCard(readRecord('a2a', card, 'x'), FACTS)).toEqual({ ...card, ...ADDED })
  })

  it('is never changed if it is signed', () => {
    const card: JsonObject = {
      ...{ name: 'a', description: 'b', version: '1', url: 'https://a.example/', capabilities: {}, skills: [] },
      signatures: [{ protected: 'e30', signature: 'AA' }],
    }
    const record = readRecord('a2a', card, 'x')
    expect(cardKindOf(record)).toBe('signed')
    expect(toAgentCard(record, { ...FACTS, status: 'suspended' })).toBe(card)
    const partly = redactRecord(readRecord('a2a', { ...card, private: ['provider'] }, 'x'))
    expect(toAgentCard(partly, FACTS)).toEqual({ ...card, signatures: undefined, ...ADDED, redacted: true })
  })

  it('of an agent that speaks no A2A exists only if the directory answers for it', () => {
    expect(toAgentCard(T01(), FACTS)).toBeUndefined()
    expect(toAgentCard(T01(), FACTS, { version: '0.3' })).toBeUndefined()
    const url = 'https://directory.example/agents/agent-12345/a2a'
    const now = toAgentCard(T01({ x: 1, signatures: [] }), FACTS, { isAnswered: true })
    expect(now).toMatchObject({
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      capabilities: { streaming: true },
      skills: [{ id: 'translateText', examples: ['你好世界 zh en'] }],
    })
    // Its members are those of A2A: the rest of the document is not what the directory signs.
    for (const member of ['x', 'signatures', 'url', 'verification']) expect(now).not.toHaveProperty(member)
    const old = toAgentCard(T01(), FACTS, { isAnswered: true, version: '0.3' })
    expect(old).toMatchObject({ protocolVersion: '0.3.0', url, preferredTransport: 'JSONRPC' })
    expect(old).not.toHaveProperty('supportedInterfaces')
  })

  it('of an agent that was registered in another format lists the interfaces that its publisher describes', () => {
    const bindings = [
      { protocol: 'https', endpoint: 'https://a.example/' },
      { protocol: 'a2a', endpoint: 'https://a.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { protocol: 'a2a/0.3', endpoint: 'https://a.example/old' },
      { protocol: 'a2a', endpoint: 'https://a.example/rest', protocolBinding: 'HTTP+JSON' },
      { protocol: 'a2a', endpoint: 'grpc.a.example:443', protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { protocol: 'a2a', endpoint: 'https://a.example/unknown' },
    ]
    const record = HR({ bindings, capabilities: { streaming: false, pushNotifications: true } })
    expect(toAgentCard(record, FACTS)).toMatchObject({
      supportedInterfaces: [
        { url: 'https://a.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: 'https://a.example/old', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { url: 'https://a.example/rest', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: 'grpc.a.example:443', protocolBinding: 'GRPC', protocolVersion: '1.0' },
      ],
      capabilities: { streaming: false, pushNotifications: true },
      ...ADDED,
    })
    const old = toAgentCard(record, FACTS, { version: '0.3' })
    expect(old).toMatchObject({ protocolVersion: '0.3.0', url: 'https://a.example/old', preferredTransport: 'JSONRPC' })
    expect(old).not.toHaveProperty('additionalInterfaces')
  })

  it('of a card that was sent as another document has its interfaces, and not its signature', () => {
    const bindings = [{ protocol: 'a2a', endpoint: 'https://a.example/' }]
    const signatures = [{ protected: 'e30', signature: 'AA' }]
    const main = { url: 'https://a.example/', preferredTransport: 'HTTP+JSON', protocolVersion: '0.3.0' }
    const record = HR({ bindings, signatures, ...main })
    expect(cardKindOf(record)).toBe('derived')
    expect(toAgentCard(record, FACTS, { version: '0.3' })).toMatchObject(main)
    const now = toAgentCard(record, FACTS)
    expect(now?.supportedInterfaces).toEqual([
      { url: 'https://a.example/', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ])
    for (const member of ['signatures', ...Object.keys(main)]) expect(now).not.toHaveProperty(member)
  })

  it('is the directory’s if the publisher does not say which binding of A2A it speaks', () => {
    const record = HR({ bindings: [{ protocol: 'a2a', endpoint: 'https://a.example/' }] })
    expect([cardKindOf(record), cardKindOf(record, { isAnswered: true })]).toEqual([undefined, 'managed'])
  })
})

describe('an agent of another directory', () => {
  const provenance = { origin_service: 'https://origin.example', origin_authority: 'origin.example', path: ['x'] }
  const facts: RegistryFacts = { ...FACTS, provenance }

  it('PROF-10-02 names its origin in every view, whatever its document claims', () => {
    const record = T01({ origin_service: 'https://forged.example', provenance: { origin_service: 'forged' } })
    const views = [
      toAidip(record, facts),
      toProfile(record, facts),
      toDirectory(record, facts),
      toDescriptor(record, facts),
      toCandidate(record, facts, 'full'),
    ]
    const origin = { origin_service: 'https://origin.example', provenance }
    for (const view of views) expect(view).toMatchObject(origin)
    expect(toMcpServer(record, facts)).toMatchObject({ _meta: { [DIRECTORY_META]: origin } })
    // A card that this directory signs has members of A2A only.
    expect(toAgentCard(record, facts, { isAnswered: true })).toMatchObject({
      capabilities: { extensions: [{ params: { origin_service: 'https://origin.example' } }] },
    })
    for (const detail of ['minimal', 'summary'] as const)
      expect(toCandidate(record, facts, detail)).toMatchObject({ provenance })
    for (const summary of [toAidipSummary(record, facts), toDirectorySummary(record, facts)])
      expect(summary.origin_service).toBe('https://origin.example')
  })

  it('is not what the document of a local agent claims to be', () => {
    const record = T01({ origin_service: 'https://forged.example', provenance: { origin_service: 'forged' }, x: 1 })
    for (const view of [toAidip(record, FACTS), toProfile(record, FACTS), toDirectory(record, FACTS)]) {
      expect(view).not.toHaveProperty('origin_service')
      expect(view).not.toHaveProperty('provenance')
      expect(view.x).toBe(1)
    }
  })

  it('has relative endpoints at its origin', () => {
    expect(toDirectory(T01({ endpoint: '/agents/t1' }), facts).base).toBe('https://origin.example/agents/t1')
  })
})
