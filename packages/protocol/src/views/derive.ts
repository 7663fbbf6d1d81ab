import { asString, type JsonObject } from '../json.js'
import { IMPLIED_OPERATION } from '../read-capabilities.js'
import type { AgentRecord, Binding, Operation, RegistryFacts } from '../record.js'
import { given } from '../record.js'

/** What a publisher said in another draft's words and the target's words have no place for. */
export function carryOver(record: AgentRecord, schema: JsonObject): JsonObject {
  const known = schema.properties
  if (typeof known !== 'object' || known === null) return {}
  return Object.fromEntries(Object.entries(record.document).filter(([name]) => !Object.hasOwn(known, name)))
}

/** The unified address of an agent: stands in where its own is kept private or is missing (AIDIP §3.1). */
export const gatewayUrl = (record: AgentRecord, facts: RegistryFacts): string =>
  `${facts.baseUrl}/agents/${encodeURIComponent(record.id)}/invoke`

/** Bindings with absolute endpoints; never empty. */
export function reachableBindings(record: AgentRecord, facts: RegistryFacts): [Binding, ...Binding[]] {
  const [first, ...rest] = record.bindings.map((binding) => ({ ...binding, endpoint: absolute(binding.endpoint, facts) }))
  return first ? [first, ...rest] : [{ protocol: 'https', endpoint: gatewayUrl(record, facts) }]
}

const absolute = (endpoint: string, facts: RegistryFacts): string =>
  endpoint.startsWith('/') ? facts.baseUrl + endpoint : endpoint

/** The address for plain HTTP callers: the best http(s) binding, else the best of any kind (C-18). */
export function httpEndpoint(record: AgentRecord, facts: RegistryFacts): string {
  const bindings = reachableBindings(record, facts)
  return (bindings.find(({ endpoint }) => /^https?:/i.test(endpoint)) ?? bindings[0]).endpoint
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
  if (own !== undefined && Date.parse(own) === facts.expiresAt) return {}
  return { expires_at: new Date(facts.expiresAt).toISOString() }
}
