import { capabilityNameProblem } from '../../identifiers.js'
import { asObjects, asStrings, type JsonObject, sameJson } from '../../json.js'
import { toJsonSchema } from '../../schema/simple-map.js'
import { type AgentRecord, type Capability, given, type RegistryFacts } from '../record.js'
import { redactRecord } from '../redact.js'
import { LIMITS } from '../schemas/parts.js'
import { callableOperations, documentFor, inheritedBy, originOf, registryMembers, uriEndpoint } from './derive.js'

/** The full registration, as returned by GET (AD §4.3). */
export function toDirectory(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const document = documentFor('directory', record, () => derived(record, facts))
  // Only `lt` tells the end of a lease: sent back as expires_at, it would become an end that no refresh moves (C-40).
  const { expires_at: _ofLease, ...members } = registryMembers(record, facts)
  return { ...document, agent: record.id, lt: facts.lifetime, href: directoryHref(facts), ...members }
}

/**
 * A document of another format as a registration of the Agent Directory. Private members stay private under their new
 * names.
 */
export function toRegistration(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const whole = documentFor('directory', record, () => derived(record, facts))
  const shown = derived(redactRecord(record), facts)
  const listed = new Map(asObjects(shown.capabilities).map((item) => [item.name, item]))
  const hidden = Object.keys(derived(record, facts)).filter(
    (name) => name !== 'capabilities' && !sameJson(whole[name], shown[name]),
  )
  return {
    ...whole,
    // From the redacted record: capabilities would inherit private tags or schemas of the agent. Nothing is lost, as
    // these stay in their own members.
    capabilities: asObjects(whole.capabilities).map((item) => listed.get(item.name) ?? { ...item, private: true }),
    ...(hidden.length > 0 && { private: [...new Set([...asStrings(record.document.private), ...hidden])] }),
  }
}

/** One entry of a lookup: enough to choose and contact an agent (AD §5.2). */
export function toDirectorySummary(record: AgentRecord, facts: RegistryFacts): JsonObject {
  return {
    agent: record.id,
    base: uriEndpoint(record, facts),
    ...(record.description !== '' && { description: record.description }),
    protocols: directoryProtocols(record),
    capabilities: directoryCapabilities(record).map(({ name, type }) => ({ name, type })),
    href: directoryHref(facts),
    ...originOf(facts),
  }
}

/** The path of a registration, relative as in the draft's examples. */
export const directoryHref = (facts: Pick<RegistryFacts, 'number'>): string => `/ad/r/${facts.number}`

/** The protocols as registered; for other formats without any, those of the bindings (C-20). */
export function directoryProtocols(record: AgentRecord): string[] {
  if (record.format === 'directory' || record.protocols.length > 0) return [...record.protocols]
  if (record.format === 'aidip') return ['https']
  return [...new Set(record.bindings.map(({ protocol }) => protocol))]
}

/** Tags that all capabilities of an agent have besides their own, so that lookups by tag find them (C-17). */
export const inheritedTags = ({ format, tags }: AgentRecord): readonly string[] =>
  format === 'aidip' || format === 'profile' ? tags : []

/**
 * Capabilities as the directory lists and filters them, with their own tags: declared ones, then operations as tools
 * (C-10).
 */
export function directoryCapabilities(record: AgentRecord): Capability[] {
  if (record.format === 'directory') return [...record.capabilities]
  const declared = new Map<string, Capability>()
  const tools = callableOperations(record).map((operation) => ({
    name: operation.name,
    type: 'tool',
    ...(operation.description !== undefined && { description: operation.description }),
    input: toJsonSchema(operation.inputs),
    output: toJsonSchema(operation.outputs),
  }))
  for (const capability of [...record.capabilities, ...tools]) {
    if (!declared.has(capability.name) && capabilityNameProblem(capability.name) === undefined)
      declared.set(capability.name, capability)
  }
  return [...declared.values()]
}

function derived(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const capabilities = directoryCapabilities(record).slice(0, LIMITS.capabilities)
  const shared = inheritedTags(record).length > 0 ? inheritedBy(capabilities.length, record).tags : []
  const tagsOf = (own: readonly string[] = []): string[] => [...new Set([...own, ...shared])].slice(0, LIMITS.tags)
  return {
    base: uriEndpoint(record, facts),
    ...(record.description !== '' && { description: record.description }),
    protocols: directoryProtocols(record).slice(0, LIMITS.texts),
    capabilities: capabilities.map(({ name, type, description, tags, input, output }) => ({
      name,
      type,
      ...given('description', description),
      ...given('tags', tags || shared.length > 0 ? tagsOf(tags) : undefined),
      ...given('input_schema', input && toJsonSchema(input)),
      ...given('output_schema', output && toJsonSchema(output)),
    })),
    ...given('version', record.version),
    ...given('vendor', record.publisher),
    ...given('identity', record.identity),
    ...given('identity_type', record.identityType),
  }
}
