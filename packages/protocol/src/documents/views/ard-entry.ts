import { foldTag, matchesProtocol } from '../../identifiers.js'
import { asString, isObject, type JsonObject, type JsonValue } from '../../json.js'
import { airUrnOf, parseAirUrn, publisherOf } from '../ard/air-urn.js'
import { IMPLIED_OPERATION } from '../read-capabilities.js'
import { type AgentRecord, given, type RegistryFacts, statusOf } from '../record.js'
import { cardKindOf, toAgentCard } from './agent-card.js'
import { verificationFor } from './derive.js'
import { toDescriptor } from './descriptor.js'
import { speaksMcp, toMcpServer } from './mcp-server.js'

/** An artifact that describes an agent: the media type that ARD has for it, and our view of it. */
interface Artifact {
  readonly type: string
  readonly file: string
  readonly write: (record: AgentRecord, facts: RegistryFacts) => JsonObject
}

const A2A: Artifact = {
  type: 'application/a2a-agent-card+json',
  file: 'agent-card.json',
  write: (record, facts) => toAgentCard(record, facts) ?? {},
}
const MCP: Artifact = { type: 'application/mcp-server-card+json', file: 'server.json', write: toMcpServer }
const DESCRIPTOR: Artifact = { type: 'application/agent-card+json', file: 'agent.json', write: toDescriptor }

/** The artifact in the words of the agent's preferred protocol; agents that speak neither A2A nor MCP have a descriptor. */
function artifactOf(record: AgentRecord): Artifact {
  for (const { protocol } of record.bindings) {
    if (matchesProtocol('a2a', protocol) && cardKindOf(record)) return A2A
    if (matchesProtocol('mcp', protocol) && speaksMcp(record)) return MCP
  }
  return record.format === 'mcp' ? MCP : DESCRIPTOR
}

/** How many of each an entry has: it is a summary, and a catalog has many of them. */
const MAX = { description: 1000, tags: 20, capabilities: 50, query: 300 }
/** The schema of ARD 0.9 rejects lists of other lengths. */
const QUERIES = { least: 2, most: 5 }

/** The complete entry of an agent by Agentic Resource Discovery, which is also one of an AI Catalog. */
export function toArdEntry(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const queries = queriesOf(record)
  return {
    ...toArdSummary(record, facts),
    ...(queries.length >= QUERIES.least && { representativeQueries: queries }),
  }
}

/** The entry as search results have it: the example queries serve indexing, not selection (ARD 0.91 §5.3.2). */
export const toArdSummary = (record: AgentRecord, facts: RegistryFacts): JsonObject => ({
  ...headOf(record, facts),
  url: artifactUrl(record, facts),
  ...restOf(record, facts),
})

/** The summary of an agent that another directory has found; the artifact is part of it, as it cannot be read here. */
export const toRemoteArdSummary = (record: AgentRecord, facts: RegistryFacts): JsonObject => ({
  ...headOf(record, facts),
  data: artifactOf(record).write(record, facts),
  ...restOf(record, facts),
})

const headOf = (record: AgentRecord, facts: RegistryFacts): JsonObject => ({
  identifier: ardIdentifier(record, facts),
  displayName: record.name || record.id,
  type: artifactOf(record).type,
})

const restOf = (record: AgentRecord, facts: RegistryFacts): JsonObject => ({
  ...(record.description !== '' && { description: cut(record.description, MAX.description) }),
  ...(record.tags.length > 0 && { tags: record.tags.slice(0, MAX.tags) }),
  ...given('capabilities', capabilitiesOf(record)),
  ...given('version', record.version),
  updatedAt: new Date(facts.modifiedAt).toISOString(),
  metadata: metadataOf(record, facts),
  ...given('trustManifest', trustManifestOf(record, facts)),
})

const cut = (text: string, length: number): string => text.slice(0, length).toWellFormed()

/** The address of one agent's document at its directory. */
const agentUrl = ({ id }: AgentRecord, { baseUrl }: RegistryFacts): string =>
  `${baseUrl}/agents/${encodeURIComponent(id)}`

const artifactUrl = (record: AgentRecord, facts: RegistryFacts): string =>
  `${agentUrl(record, facts)}/${artifactOf(record).file}`

/**
 * The identifier of an agent. One that its publisher has assigned is kept if the publisher has proven its domain, or the agent
 * was read there; otherwise the directory where the agent is registered assigns one in its own domain.
 */
export const ardIdentifier = (record: AgentRecord, facts: RegistryFacts): string =>
  isAssignedByPublisher(record, facts) ? record.id : airUrnOf(directoryOf(facts), record.id)

/** The domain in the identifier of an agent. */
const publisherFor = (record: AgentRecord, facts: RegistryFacts): string =>
  (isAssignedByPublisher(record, facts) && parseAirUrn(record.id)?.publisher) || directoryOf(facts)

/** The domain of the directory where an agent is registered. */
const directoryOf = ({ provenance, baseUrl }: RegistryFacts): string =>
  publisherOf(provenance?.origin_service ?? baseUrl)

function isAssignedByPublisher({ id }: AgentRecord, { verification, provenance }: RegistryFacts): boolean {
  const publisher = provenance ? undefined : parseAirUrn(id)?.publisher.toLowerCase()
  if (publisher === undefined) return false
  const { domain, crawled } = verification
  const isProven = isObject(domain) && domain.state === 'proven' && domain.name === publisher
  return isProven || (isObject(crawled) && hostOf(asString(crawled.url)) === publisher)
}

const hostOf = (url = ''): string | undefined => (URL.canParse(url) ? new URL(url).hostname : undefined)

/** The first example queries, each once. */
function queriesOf({ examples }: AgentRecord): string[] {
  const texts = examples.map(({ text }) => cut(text, MAX.query).trim()).filter((text) => text !== '')
  return [...new Set(texts)].slice(0, QUERIES.most)
}

/** Names of capabilities and operations; undefined if there are none. */
function capabilitiesOf({ capabilities, operations }: AgentRecord, most = MAX.capabilities): string[] | undefined {
  const names = new Set([...capabilities, ...operations].map(({ name }) => name))
  // The operation of agents that describe none says nothing.
  names.delete(IMPLIED_OPERATION)
  return names.size === 0 ? undefined : [...names].slice(0, most)
}

const metadataOf = (record: AgentRecord, facts: RegistryFacts): JsonObject => ({
  id: record.id,
  status: statusOf(record, facts),
  ...given('authentication', record.authentication?.type),
})

/**
 * What this directory has verified about an agent, or where it was read; undefined if that is nothing (AI Catalog, Manifest
 * Validity). The identity is the domain of the identifier (ARD 0.91 §4.5.1).
 */
function trustManifestOf(record: AgentRecord, facts: RegistryFacts): JsonObject | undefined {
  const { state, domain, signature, crawled } = verificationFor(record, facts)
  const source = facts.provenance?.origin_service ?? (isObject(crawled) ? asString(crawled.url) : undefined)
  const verified = [
    ...(isObject(domain) && domain.state === 'proven' ? ['domain-control'] : []),
    ...(isObject(signature) && signature.state === 'valid' ? ['document-signature'] : []),
    ...(state !== undefined && state !== 'self-asserted' ? ['operator-verification'] : []),
    ...(facts.certification ? ['certification'] : []),
  ]
  if (verified.length === 0 && source === undefined) return undefined
  // The `verification` of this document says how, when and with which result.
  const evidence = { uri: agentUrl(record, facts), mediaType: 'application/json' }
  return {
    identity: `https://${publisherFor(record, facts)}`,
    identityType: 'https',
    ...(verified.length > 0 && { attestations: verified.map((type) => ({ type, ...evidence })) }),
    ...(source !== undefined && {
      provenance: [{ relation: facts.provenance ? 'copiedFrom' : 'publishedFrom', sourceId: source }],
    }),
  }
}

/** The values that an entry has for a term; `facts` is asked only if they depend on it. */
export type ArdTerm = (record: AgentRecord, facts: () => RegistryFacts | undefined) => readonly JsonValue[]

/** A term that depends on what the directory knows; without that, it has no values. */
const known =
  (toValue: (record: AgentRecord, facts: RegistryFacts) => JsonValue | undefined): ArdTerm =>
  (record, facts) => {
    const all = facts()
    const value = all && toValue(record, all)
    return value === undefined ? [] : [value]
  }

const TERMS = new Map<string, ArdTerm>([
  ['identifier', known(ardIdentifier)],
  ['publisher', known(publisherFor)],
  ['displayName', ({ name, id }) => [name || id]],
  ['type', (record) => [artifactOf(record).type]],
  ['url', known(artifactUrl)],
  ['description', ({ description }) => [description]],
  // Compared like tags everywhere here (C-16); a filter sees those that the entry leaves out, too.
  ['tags', ({ tags }) => tags],
  ['capabilities', (record) => capabilitiesOf(record, Number.POSITIVE_INFINITY) ?? []],
  ['representativeQueries', queriesOf],
  ['version', ({ version }) => (version === undefined ? [] : [version])],
  ['updatedAt', known((_record, facts) => new Date(facts.modifiedAt).toISOString())],
])

/** Members whose inner members a path can name. */
const OBJECTS = new Map([
  ['metadata', metadataOf],
  ['trustManifest', trustManifestOf],
])

/** The term paths that can be filtered by. */
export const ARD_TERMS: readonly string[] = [...TERMS.keys(), ...Array.from(OBJECTS.keys(), (name) => `${name}.*`)]

/** The term that a path such as `trustManifest.attestations.type` names; undefined if entries have no such term. */
export function ardTerm(path: string): ArdTerm | undefined {
  const [name = '', ...inner] = path.split('.')
  const toObject = OBJECTS.get(name)
  if (toObject && inner.length > 0) {
    return (record, facts) => known(toObject)(record, facts).flatMap((value) => valuesAt(value, inner))
  }
  return inner.length === 0 ? TERMS.get(name) : undefined
}

/** The values at a path; a list stands for each of its items. */
function valuesAt(value: JsonValue | undefined, [name, ...rest]: readonly string[]): JsonValue[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, name === undefined ? [] : [name, ...rest]))
  if (name === undefined) return value === undefined ? [] : [value]
  return isObject(value) && Object.hasOwn(value, name) ? valuesAt(value[name], rest) : []
}

/** The form in which values are compared: those of tags and capabilities without regard to case (C-16). */
export const ardValue = (path: string, value: JsonValue): string =>
  path === 'tags' || path === 'capabilities' ? foldTag(String(value)) : String(value)
