import type { JsonObject } from '../../json.js'
import { type AgentRecord, given, type RegistryFacts } from '../record.js'
import { LIMITS } from '../schemas/parts.js'
import {
  byProtocol,
  callableOperations,
  documentFor,
  inheritedBy,
  reachableBindings,
  registryMembers,
} from './derive.js'

/** The JSON-LD context of descriptors (C-28). Nothing here depends on it. */
export const DESCRIPTOR_CONTEXT = 'https://schema.org'

/** The version of documents without one: a semantic version lower than any release (AURI §7). */
const UNVERSIONED = '0.0.0'

/** The agent.json of an agent (AURI §7), with the two members that the draft requires of publishers (C-25). */
export function toDescriptor(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const document = documentFor('descriptor', record, () => derived(record, facts))
  return {
    versionNegotiation: { preferred: 'header', header: 'X-Agent-Version', query: 'version' },
    security: securityByTransport(record, facts),
    errorFormat: 'application/problem+json',
    ...document,
    ...registryMembers(record, facts),
  }
}

function securityByTransport(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const schemes = record.authentication ? [...record.authentication.schemes] : ['none']
  return byProtocol(reachableBindings(record, facts), () => schemes)
}

function derived(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const bindings = reachableBindings(record, facts)
  const operations = callableOperations(record)
  const inherited = inheritedBy(record.capabilities.length + operations.length, record)
  const described = record.capabilities.map(({ name, version, description, tags, input, output }) => ({
    name,
    version: version ?? record.version ?? UNVERSIONED,
    description: description ?? inherited.description,
    tags: tags?.slice(0, LIMITS.tags) ?? inherited.tags,
    ...given('input', input),
    ...given('output', output),
  }))
  const names = new Set(described.map(({ name }) => name))
  const callable = operations
    .filter(({ name }) => !names.has(name))
    .map(({ name, description, inputs, outputs }) => ({
      name,
      version: record.version ?? UNVERSIONED,
      description: description ?? inherited.description,
      tags: inherited.tags,
      input: inputs,
      output: outputs,
    }))
  return {
    '@context': DESCRIPTOR_CONTEXT,
    id: record.id,
    name: record.name,
    description: record.description,
    version: record.version ?? UNVERSIONED,
    url: bindings[0].endpoint,
    transport: byProtocol(bindings, ({ endpoint }) => endpoint),
    ...(record.publisher !== undefined && { provider: { organization: record.publisher } }),
    capabilities: [...described, ...callable].slice(0, LIMITS.capabilities),
    ...(record.authentication && { authentication: { schemes: [...record.authentication.schemes] } }),
    status: record.status,
  }
}
