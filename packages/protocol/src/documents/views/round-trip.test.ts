import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KINDS, registryFacts, sentDocument } from '../../../test/arbitraries.js'
import { type JsonObject, parseJson } from '../../json.js'
import { validateDocument } from '../parse.js'
import { readRecord } from '../read.js'
import type { AgentRecord, DocumentFormat, RegistryFacts } from '../record.js'
import { toAgentCard } from './agent-card.js'
import { toAidip, toAidipSummary } from './aidip.js'
import { toDescriptor } from './descriptor.js'
import { toDirectory, toDirectorySummary } from './directory.js'
import type { AgentCardVersion } from './managed-card.js'
import { toMcpServer } from './mcp-server.js'
import { toCandidate, toProfile } from './profile.js'

const RUNS = { numRuns: 60 }

type View = (record: AgentRecord, facts: RegistryFacts) => JsonObject

/** The card of an agent for which the directory answers. */
function cardView(version: AgentCardVersion): View {
  return (record, facts) => toAgentCard(record, facts, { version, isAnswered: true }) ?? {}
}

const VIEWS: { name: string; format: DocumentFormat; view: View }[] = [
  { name: 'AIDIP-01', format: 'aidip', view: toAidip },
  { name: 'AIDIP-00', format: 'aidip', view: (record, facts) => toAidip(record, facts, '00') },
  { name: 'profile', format: 'profile', view: toProfile },
  { name: 'directory', format: 'directory', view: toDirectory },
  { name: 'agent.json', format: 'descriptor', view: toDescriptor },
  { name: 'A2A 0.3', format: 'a2a', view: cardView('0.3') },
  { name: 'A2A 1.0', format: 'a2a', view: cardView('1.0') },
  { name: 'MCP', format: 'mcp', view: toMcpServer },
]

/** Members that the directory always sets, whatever the document contains. */
const REGISTRY = ['verification']
const BY_FORMAT: Partial<Record<DocumentFormat, string[]>> = {
  directory: ['agent', 'lt', 'href'],
  profile: ['id', 'freshness'],
  aidip: ['id'],
  mcp: ['_meta'],
}
/** Members that are added if the publisher did not send them (C-12, C-25). */
const ADDED: Record<string, string[]> = {
  'AIDIP-01': ['publisher', 'authentication'],
  'AIDIP-00': ['provider'],
  'agent.json': ['versionNegotiation', 'security', 'errorFormat'],
}

const without = (document: JsonObject, names: string[]): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([name]) => !names.includes(name)))

describe.each(KINDS)('a document of the kind %s', (kind) => {
  const cases = fc.tuple(sentDocument(kind), registryFacts)

  it('has a valid view in every format', () => {
    fc.assert(
      fc.property(cases, ([sent, facts]) => {
        const record = readRecord(sent.format, sent.document, sent.id)
        for (const { name, format, view } of VIEWS) {
          expect(validateDocument(format, parseJson(JSON.stringify(view(record, facts)))), name).toEqual([])
        }
      }),
      RUNS,
    )
  })

  it('AIDIP-3-02, PROF-4.1-16, PROF-4.7-04, AURI-7-18, AURI-7-24 is returned as it was sent, with unknown and nested members', () => {
    fc.assert(
      fc.property(cases, ([sent, facts]) => {
        const record = readRecord(sent.format, sent.document, sent.id)
        for (const { name, format, view } of VIEWS.filter((one) => one.format === sent.format)) {
          const added = (ADDED[name] ?? []).filter(
            (member) => member === 'authentication' || sent.document[member] === undefined,
          )
          const changed = [
            ...REGISTRY,
            ...(BY_FORMAT[format] ?? []),
            ...added,
            ...(facts.status === undefined ? [] : ['status']),
            ...(facts.expiresAt === undefined ? [] : ['expires_at']),
          ]
          expect(without(view(record, facts), changed)).toEqual(without(sent.document, changed))
        }
      }),
      RUNS,
    )
  })

  it('has summaries in every format that do not change the record or its document', () => {
    fc.assert(
      fc.property(cases, ([sent, facts]) => {
        const record = readRecord(sent.format, sent.document, sent.id)
        const before = JSON.stringify(record)
        for (const detail of ['minimal', 'summary', 'full'] as const)
          expect(toCandidate(record, facts, detail).id).toBe(sent.id)
        expect(toAidipSummary(record, facts)).toMatchObject({ id: sent.id, endpoint: expect.any(String) })
        expect(toDirectorySummary(record, facts)).toMatchObject({ agent: sent.id, base: expect.stringContaining(':') })
        for (const { view } of VIEWS) view(record, facts)
        expect(JSON.stringify(record)).toBe(before)
      }),
      RUNS,
    )
  })
})
