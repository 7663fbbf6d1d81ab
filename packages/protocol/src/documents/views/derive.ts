import { isAbsoluteUri } from '../../identifiers.js'
import { asString, asStrings, type JsonObject } from '../../json.js'
import { parseTimestamp } from '../../timestamps.js'
import { IMPLIED_OPERATION } from '../read-capabilities.js'
import {
  type AgentRecord,
  type Binding,
  type DocumentFormat,
  given,
  type Operation,
  type RegistryFacts,
} from '../record.js'
import { FORMAT_SCHEMAS, memberFits } from '../schemas/formats.js'
import { LIMITS } from '../schemas/parts.js'

/**
 * The document in a format: the publisher's own, or one derived from another format. A derived document keeps the
 * members that the target format does not define (C-27), unless their value does not fit the target's definition.
 */
export function documentFor(format: DocumentFormat, record: AgentRecord, derive: () => JsonObject): JsonObject {
  const document = withoutOrigin(record.document)
  if (record.format === format) return record.redacted ? filled(format, document, derive) : document
  const derived = derive()
  const kept = Object.entries(document).filter(
    ([name, value]) => !Object.hasOwn(derived, name) && memberFits(format, name, value),
  )
  return { ...Object.fromEntries(kept), ...derived }
}

/** Only the directory says that an agent comes from another one: what a document claims about that is not shown. */
export function withoutOrigin(document: JsonObject): JsonObject {
  if (!('origin_service' in document || 'provenance' in document)) return document
  const { origin_service: _service, provenance: _provenance, ...rest } = document
  return rest
}

/** Replaces required members that are private: the name by the id, an address by our gateway. */
function filled(format: DocumentFormat, document: JsonObject, derive: () => JsonObject): JsonObject {
  const has = (...names: string[]): boolean => names.some((name) => Object.hasOwn(document, name))
  const missing = asStrings(FORMAT_SCHEMAS[format].required).filter((name) => !has(name))
  const isDescribed =
    has('operations') || (has('capabilities') && has('inputs', 'input_schema') && has('outputs', 'output_schema'))
  if (format === 'aidip' && !isDescribed) missing.push('operations')
  if (format === 'a2a' && !has('url', 'supportedInterfaces')) missing.push('url', 'supportedInterfaces')
  if (missing.length === 0) return document
  const stands = Object.entries(derive()).filter(([name]) => missing.includes(name))
  return { ...document, ...Object.fromEntries(stands) }
}

/** The address of an agent at our gateway, used if its own is private or missing (AIDIP §3.1). */
export const gatewayUrl = (record: AgentRecord, facts: RegistryFacts): string =>
  `${facts.baseUrl}/agents/${encodeURIComponent(record.id)}/invoke`

/** The bindings with absolute endpoints; never empty. */
export function reachableBindings(record: AgentRecord, facts: RegistryFacts): [Binding, ...Binding[]] {
  const [first, ...rest] = record.bindings.map((binding) => ({
    ...binding,
    endpoint: absoluteEndpoint(binding.endpoint, facts),
  }))
  return first ? [first, ...rest] : [{ protocol: 'https', endpoint: gatewayUrl(record, facts) }]
}

/** An endpoint that is a path belongs to the directory where the agent is registered. */
export const absoluteEndpoint = (endpoint: string, facts: RegistryFacts): string =>
  endpoint.startsWith('/') ? (facts.provenance?.origin_service ?? facts.baseUrl) + endpoint : endpoint

/** The address of the best binding with a URI; the gateway if there is none, as profile endpoints need not be URIs. */
export function uriEndpoint(record: AgentRecord, facts: RegistryFacts): string {
  return reachableBindings(record, facts).find(isUri)?.endpoint ?? gatewayUrl(record, facts)
}

/** The address for HTTP callers: the best http(s) binding, else the best of any kind (C-18). */
export function httpEndpoint(record: AgentRecord, facts: RegistryFacts): string {
  const bindings = reachableBindings(record, facts).filter(isUri)
  return bindings.find(({ endpoint }) => /^https?:/i.test(endpoint))?.endpoint ?? uriEndpoint(record, facts)
}

const isUri = ({ endpoint }: Binding): boolean => isAbsoluteUri(endpoint)

/** A value for each protocol. The first binding of a protocol wins: it is the preferred one (C-19). */
export function byProtocol<T>(bindings: readonly Binding[], toValue: (binding: Binding) => T): Record<string, T> {
  const values = new Map<string, T>()
  for (const binding of bindings) if (!values.has(binding.protocol)) values.set(binding.protocol, toValue(binding))
  // Strict parsers, ours included, reject a member of that name.
  values.delete('__proto__')
  return Object.fromEntries(values)
}

/**
 * The operations that can be called. An agent without any has one that takes and returns an object (C-08), unless it calls
 * operations by their names only: then there is none until they are known.
 */
export function callableOperations(record: AgentRecord): readonly Operation[] {
  if (record.operations.length > 0 || needsName(record)) return record.operations
  return [{ name: IMPLIED_OPERATION, inputs: { type: 'object' }, outputs: { type: 'object' } }]
}

/** Whether the preferred binding that can be called is MCP, whose tools all have names. */
function needsName({ bindings }: AgentRecord): boolean {
  const called = bindings.find(({ endpoint }) => !endpoint.startsWith('pkg:')) ?? bindings[0]
  return called !== undefined && /^mcp/i.test(called.protocol)
}

/** Characters of the agent's description, and of its tags, that a derived document repeats in all its capabilities. */
const MAX_REPEATED = 524_288

/** What each of `count` capabilities without a description or tags of its own gets from the agent. */
export interface Inherited {
  readonly description: string
  readonly tags: string[]
}

/**
 * The description and tags that capabilities inherit. They are cut if there are many capabilities: otherwise a document of
 * 256 KiB would become a view of more than 200 MB.
 */
export function inheritedBy(count: number, { description, tags }: AgentRecord): Inherited {
  const room = Math.floor(MAX_REPEATED / Math.max(count, 1))
  const kept: string[] = []
  let length = 0
  for (const tag of tags.slice(0, LIMITS.tags)) {
    length += tag.length
    if (length > room) break
    kept.push(tag)
  }
  return {
    description: description.length <= room ? description : description.slice(0, room).toWellFormed(),
    tags: kept,
  }
}

/** Members that the directory adds to a document of any format. */
export function registryMembers(record: AgentRecord, facts: RegistryFacts): JsonObject {
  return {
    verification: {
      ...verificationFor(record, facts),
      ...given('certification', facts.certification),
      ...given('quality_score', facts.qualityScore),
      ...given('unsafe', facts.unsafe),
    },
    ...given('status', facts.status),
    ...expiry(record, facts),
    ...(record.redacted && { redacted: true }),
    ...(facts.provenance && { ...originOf(facts), provenance: facts.provenance }),
  }
}

/** Names the directory where the agent is registered, if that is another one (C-45). */
export const originOf = ({ provenance }: Pick<RegistryFacts, 'provenance'>): JsonObject =>
  given('origin_service', provenance?.origin_service)

/** What the directory says about the trust in an agent. What it found out about private members is private too. */
export function verificationFor(record: AgentRecord, facts: Pick<RegistryFacts, 'verification'>): JsonObject {
  const hidden = new Set<string>()
  if (!showsSignature(record)) hidden.add('signature')
  if (record.redacted && !record.learned) hidden.add('operations')
  if (hidden.size === 0) return facts.verification
  return Object.fromEntries(Object.entries(facts.verification).filter(([name]) => !hidden.has(name)))
}

/** Whether the signature of the document, if it has one, is part of the record. */
const showsSignature = ({ document, redacted }: AgentRecord): boolean =>
  !redacted || document.signature !== undefined || document.signatures !== undefined

/** The end of the registration, in the publisher's notation if it is the same instant. */
function expiry(record: AgentRecord, facts: RegistryFacts): JsonObject {
  if (facts.expiresAt === undefined) return {}
  const own = asString(record.document.expires_at)
  if (own !== undefined && parseTimestamp(own) === facts.expiresAt) return {}
  return { expires_at: new Date(facts.expiresAt).toISOString() }
}
