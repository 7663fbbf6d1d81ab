import {
  type AgentRecord,
  type DocumentFormat,
  gatewayUrl,
  type JsonObject,
  type RegistryFacts,
  toAgentCard,
  toAidip,
  toDescriptor,
  toDirectory,
  toMcpServer,
  toProfile,
} from '@switchboard/protocol'
import type { Signing } from '../identity/signing.js'
import type { Agent, Catalog } from '../registry/catalog.js'
import type { Readable } from '../registry/read.js'
import { withoutRegistryMembers } from './registry-members.js'

/** The JSON text of one entry of the feed; it is cached until the agent changes. */
export type WriteEntry = (readable: Readable) => Promise<string>

export interface WriteEntryOptions {
  readonly catalog: Pick<Catalog, 'facts'>
  readonly signing: Pick<Signing, 'signDocument'>
  /** URL of this directory. */
  readonly baseUrl: () => string
  /** Whether agents can be called through this directory. */
  readonly hasGateway: boolean
  readonly now: () => number
}

const HOUR_MS = 3_600_000
/** Signatures of a period are the same, so that they need not be made for every reader. */
const PERIOD_MS = 12 * HOUR_MS
/** A signed record may be passed on for one to two periods after it was read here; removals reach everyone by then. */
const VALID_PERIODS = 3

/**
 * An entry is the record as this directory, or the origin of a copy, vouches for it, and the path that it has taken. The
 * record is signed as a whole, so that others can pass it on without changing its document, its origin or its lifetime.
 */
export function createWriteEntry({ catalog, signing, baseUrl, hasGateway, now }: WriteEntryOptions): WriteEntry {
  const recordOf = (agent: Agent, record: AgentRecord, validUntil: number): JsonObject => {
    const facts = catalog.facts(agent)
    const { format } = record
    return {
      id: record.id,
      format,
      // What is private and required is replaced, as in this directory's own views.
      document: record.redacted ? withoutRegistryMembers(VIEWS[format](record, facts)) : record.document,
      ...(record.redacted && { redacted: true }),
      origin_service: baseUrl(),
      indexed_at: new Date(facts.modifiedAt).toISOString(),
      received_at: new Date(facts.receivedAt).toISOString(),
      ...(facts.expiresAt !== undefined && { expires_at: new Date(facts.expiresAt).toISOString() }),
      valid_until: new Date(validUntil).toISOString(),
      ...(hasGateway && { gateway: gatewayUrl(record, facts) }),
    }
  }

  const write = async (agent: Agent, record: AgentRecord, validUntil: number): Promise<JsonObject> => {
    const { origin } = agent.stored.marks
    if (origin)
      return { record: { ...origin.signed, document: agent.stored.document }, path: [...origin.path, baseUrl()] }
    const unsigned = recordOf(agent, record, validUntil)
    return { record: (await signing.signDocument(unsigned)) ?? unsigned, path: [baseUrl()] }
  }

  return async ({ agent, record }) => {
    const validUntil = (Math.floor(now() / PERIOD_MS) + VALID_PERIODS) * PERIOD_MS
    const view = `feed.${validUntil.toString(36)}${record.redacted ? '.r' : ''}`
    const cached = agent.views.get(agent, view)
    if (cached !== undefined) return cached
    const text = JSON.stringify(await write(agent, record, validUntil))
    agent.views.set(agent, view, text)
    return text
  }
}

const VIEWS: Record<DocumentFormat, (record: AgentRecord, facts: RegistryFacts) => JsonObject> = {
  aidip: toAidip,
  profile: toProfile,
  directory: toDirectory,
  descriptor: toDescriptor,
  // A private address is replaced by that of this directory, whether or not it answers at the moment.
  a2a: (record, facts) => toAgentCard(record, facts, { isAnswered: true }) ?? record.document,
  mcp: toMcpServer,
}
