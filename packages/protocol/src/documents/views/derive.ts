import { asString, asStrings, type JsonObject } from '../../json.js'
import { parseTimestamp } from '../../timestamps.js'
import { isAbsoluteUri } from '../../uris.js'
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

/**
 * The document of a face: the publisher's own, or one derived from another draft's. A derived one keeps what the
 * publisher said beyond the target's words (C-27), unless it is not what a reader of the target expects of that member.
 */
export function documentFor(format: DocumentFormat, record: AgentRecord, derive: () => JsonObject): JsonObject {
  if (record.format === format) return record.redacted ? filled(format, record.document, derive) : record.document
  const derived = derive()
  const kept = Object.entries(record.document).filter(
    ([name, value]) => !Object.hasOwn(derived, name) && memberFits(format, name, value),
  )
  return { ...Object.fromEntries(kept), ...derived }
}

/** Where a member that must be there was kept private, what stands for it: the id for a name, our gateway for an address. */
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

/** The unified address of an agent: stands in where its own is kept private or is missing (AIDIP §3.1). */
export const gatewayUrl = (record: AgentRecord, facts: RegistryFacts): string =>
  `${facts.baseUrl}/agents/${encodeURIComponent(record.id)}/invoke`

/** Bindings with absolute endpoints; never empty. */
export function reachableBindings(record: AgentRecord, facts: RegistryFacts): [Binding, ...Binding[]] {
  const [first, ...rest] = record.bindings.map((binding) => ({
    ...binding,
    endpoint: absolute(binding.endpoint, facts),
  }))
  return first ? [first, ...rest] : [{ protocol: 'https', endpoint: gatewayUrl(record, facts) }]
}

const absolute = (endpoint: string, facts: RegistryFacts): string =>
  endpoint.startsWith('/') ? facts.baseUrl + endpoint : endpoint

/** The address of the best binding that has a URI: the profile takes other references too, ours stands for them. */
export function uriEndpoint(record: AgentRecord, facts: RegistryFacts): string {
  return reachableBindings(record, facts).find(isUri)?.endpoint ?? gatewayUrl(record, facts)
}

/** The address for plain HTTP callers: the best http(s) binding, else the best of any kind (C-18). */
export function httpEndpoint(record: AgentRecord, facts: RegistryFacts): string {
  const bindings = reachableBindings(record, facts).filter(isUri)
  return bindings.find(({ endpoint }) => /^https?:/i.test(endpoint))?.endpoint ?? uriEndpoint(record, facts)
}

const isUri = ({ endpoint }: Binding): boolean => isAbsoluteUri(endpoint)

/** A value for each protocol; the first binding of a protocol wins, because it is preferred (C-19). */
export function byProtocol<T>(bindings: readonly Binding[], toValue: (binding: Binding) => T): Record<string, T> {
  const values = new Map<string, T>()
  for (const binding of bindings) if (!values.has(binding.protocol)) values.set(binding.protocol, toValue(binding))
  // Readers such as ours refuse a member of that name.
  values.delete('__proto__')
  return Object.fromEntries(values)
}

/** Operations; never empty: an agent that describes none takes and gives an object (C-08). */
export function callableOperations(record: AgentRecord): readonly Operation[] {
  if (record.operations.length > 0) return record.operations
  return [{ name: IMPLIED_OPERATION, inputs: { type: 'object' }, outputs: { type: 'object' } }]
}

/** Members that the registry adds to a publisher's document, whatever the face. */
export function registryMembers(record: AgentRecord, facts: RegistryFacts): JsonObject {
  return {
    verification: {
      ...facts.verification,
      ...given('certification', facts.certification),
      ...given('quality_score', facts.qualityScore),
      ...given('unsafe', facts.unsafe),
    },
    ...given('status', facts.status),
    ...expiry(record, facts),
    ...(record.redacted && { redacted: true }),
  }
}

/** The end of the registration; the publisher's own spelling of it is kept where it says the same instant. */
function expiry(record: AgentRecord, facts: RegistryFacts): JsonObject {
  if (facts.expiresAt === undefined) return {}
  const own = asString(record.document.expires_at)
  if (own !== undefined && parseTimestamp(own) === facts.expiresAt) return {}
  return { expires_at: new Date(facts.expiresAt).toISOString() }
}
