import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KINDS, registryFacts, sentDocument } from '../../test/arbitraries.js'
import { fixture } from '../../test/fixtures.js'
import { isObject, type JsonObject, type JsonValue } from '../json.js'
import { validateDocument } from './parse.js'
import { readRecord } from './read.js'
import type { AgentRecord, DocumentFormat, RegistryFacts } from './record.js'
import { redactRecord } from './redact.js'
import { toAgentCard } from './views/agent-card.js'
import { toAidip, toAidipSummary } from './views/aidip.js'
import { toDescriptor } from './views/descriptor.js'
import { toDirectory, toDirectorySummary, toRegistration } from './views/directory.js'
import { toMcpServer } from './views/mcp-server.js'
import { toCandidate, toProfile } from './views/profile.js'

const FACTS: RegistryFacts = {
  baseUrl: 'https://directory.example',
  number: 7,
  verification: { state: 'self-asserted' },
  lifetime: 600,
  receivedAt: 0,
  modifiedAt: 0,
}

const VIEWS: [DocumentFormat | undefined, (record: AgentRecord, facts: RegistryFacts) => JsonObject][] = [
  ['aidip', (record, facts) => toAidip(record, facts, '01')],
  ['aidip', (record, facts) => toAidip(record, facts, '00')],
  ['profile', toProfile],
  ['directory', toDirectory],
  ['descriptor', toDescriptor],
  ['a2a', (record, facts) => toAgentCard(record, facts, { version: '0.3', isAnswered: true }) ?? {}],
  ['a2a', (record, facts) => toAgentCard(record, facts, { isAnswered: true }) ?? {}],
  ['mcp', toMcpServer],
  [undefined, toAidipSummary],
  [undefined, toDirectorySummary],
  [undefined, (record, facts) => toCandidate(record, facts, 'minimal')],
  [undefined, (record, facts) => toCandidate(record, facts, 'summary')],
  [undefined, (record, facts) => toCandidate(record, facts, 'full')],
]

const SECRET = 's3cr3t'

/** Replaces every string inside a value with the secret, so that any leak shows. */
function secretly(value: JsonValue): JsonValue {
  if (typeof value === 'string') return `${SECRET} ${value}`
  if (Array.isArray(value)) return value.map(secretly)
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, secretly(part)]))
  return value
}

const shown = (record: AgentRecord, facts = FACTS): string =>
  JSON.stringify(VIEWS.map(([, view]) => view(record, facts)))

describe('redactRecord', () => {
  it('returns the same record if nothing is private', () => {
    const record = readRecord('profile', fixture('FX-HR', { private: [] }), 'a')
    expect(redactRecord(record)).toBe(record)
    expect(record.redacted).toBe(false)
  })

  it('PROF-7.4-02, PROF-7.4-03 omits the members named in private, and marks the record as redacted', () => {
    const record = redactRecord(
      readRecord('profile', fixture('FX-HR', { auth: { type: SECRET }, private: ['auth', 'examples'] }), 'a'),
    )
    expect(shown(record)).not.toContain(SECRET)
    expect(toProfile(record, FACTS)).toMatchObject({ redacted: true, name: 'HR Core Automator' })
    expect(toProfile(record, FACTS)).not.toHaveProperty('examples')
    expect(toProfile(record, FACTS)).not.toHaveProperty('private')
    expect(toCandidate(record, FACTS, 'minimal')).toHaveProperty('redacted', true)
  })

  it.each([
    'examples',
    'bindings',
    'operations',
    'capabilities',
    'skills',
    'supportedInterfaces',
    'additionalInterfaces',
    'remotes',
    'packages',
  ])('PROF-7.4-02 omits private items of %s, in any format', (list) => {
    const item = (text: string) => ({
      ...{
        id: text,
        name: text,
        text,
        type: text,
        description: text,
        protocol: text,
        endpoint: `https://${text}.example/`,
      },
      ...{ url: `https://${text}.example/`, identifier: text, registryType: 'npm', examples: [text], tags: [text] },
    })
    for (const format of ['aidip', 'profile', 'directory', 'descriptor', 'a2a', 'mcp'] as const) {
      const document = { name: 'a', [list]: [{ ...item(SECRET), private: true }, item('open')] }
      const record = redactRecord(readRecord(format, document, 'a'))
      expect(record.redacted).toBe(true)
      expect(shown(record), format).not.toContain(SECRET)
      expect(shown(record), format).toContain('open')
    }
  })

  it('omits private examples of operations', () => {
    const examples = [{ input: { text: SECRET }, private: true }, { input: { text: 'open' } }]
    const record = redactRecord(
      readRecord('aidip', fixture('FX-T01', { operations: [{ name: 'a', inputs: {}, examples }] }), 'a'),
    )
    expect(shown(record)).not.toContain(SECRET)
    expect(record.operations[0]?.examples).toEqual([{ input: { text: 'open' } }])
    expect(record.examples).toEqual([{ text: 'open' }])
  })

  it("AIDIP-3.1-11 shows the gateway's address if the agent's own is private", () => {
    const endpoint = `https://${SECRET}.example/`
    const record = redactRecord(
      readRecord('aidip', fixture('FX-T01', { endpoint, private: ['endpoint'] }), 'agent-12345'),
    )
    expect(shown(record)).not.toContain(SECRET)
    expect(toAidip(record, FACTS).endpoint).toBe('https://directory.example/agents/agent-12345/invoke')
    expect(toAidipSummary(record, FACTS).endpoint).toBe('https://directory.example/agents/agent-12345/invoke')
    const hidden = redactRecord(
      readRecord('profile', fixture('FX-HR', { bindings: [{ protocol: 'https', endpoint, private: true }] }), 'a'),
    )
    expect(toProfile(hidden, FACTS).bindings).toEqual([
      { protocol: 'https', endpoint: 'https://directory.example/agents/a/invoke' },
    ])
  })

  it('still shows that an agent is suspended or restricted', () => {
    const document = fixture('FX-T01', {
      status: 'suspended',
      visibility: 'restricted',
      private: ['status', 'visibility', 'id'],
    })
    expect(redactRecord(readRecord('aidip', document, 'agent-12345'))).toMatchObject({
      status: 'suspended',
      visibility: 'restricted',
      id: 'agent-12345',
    })
  })

  it.each(KINDS)('hides any private member of a %s document in every view, and all views stay valid', (kind) => {
    const always = new Set(['id', 'status', 'visibility', 'private'])
    const cases = sentDocument(kind).chain((sent) =>
      fc.record({
        sent: fc.constant(sent),
        names: fc.subarray(Object.keys(sent.document).filter((name) => !always.has(name))),
        facts: registryFacts,
      }),
    )
    fc.assert(
      fc.property(cases, ({ sent, names, facts }) => {
        const hidden = names.map((name): [string, JsonValue] => [name, secretly(sent.document[name] ?? null)])
        const document = { ...sent.document, ...Object.fromEntries(hidden), private: names }
        const record = redactRecord(readRecord(sent.format, document, sent.id))
        expect(record.redacted).toBe(names.length > 0)
        expect(shown(record, facts).includes(SECRET)).toBe(false)
        for (const [format, view] of VIEWS)
          if (format) expect(validateDocument(format, view(record, facts)), format).toEqual([])
        // Converting the document to a registration of the Agent Directory keeps private members private.
        const moved = toRegistration(readRecord(sent.format, document, sent.id), facts)
        expect(shown(redactRecord(readRecord('directory', moved, sent.id)), facts).includes(SECRET)).toBe(false)
      }),
      { numRuns: 25 },
    )
  })
})
