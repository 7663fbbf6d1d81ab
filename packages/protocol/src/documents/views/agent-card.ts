import type { JsonObject } from '../../json.js'
import { type AgentRecord, given, type RegistryFacts } from '../record.js'
import { LIMITS } from '../schemas/parts.js'
import { callableOperations, documentFor, inheritedBy, reachableBindings, registryMembers } from './derive.js'

/** Versions of the A2A card that can be written; a registered card keeps its own version. */
export type AgentCardVersion = '0.3' | '1.0'

/** The A2A Agent Card of an agent of any format. */
export function toAgentCard(record: AgentRecord, facts: RegistryFacts, version: AgentCardVersion = '1.0'): JsonObject {
  const document = documentFor('a2a', record, () => derived(record, facts, version))
  return { ...document, ...registryMembers(record, facts) }
}

function derived(record: AgentRecord, facts: RegistryFacts, version: AgentCardVersion): JsonObject {
  const bindings = reachableBindings(record, facts)
  const jsonOnly = ['application/json']
  const examples = record.examples.slice(0, LIMITS.examples).map(({ text }) => text)
  const declared = [...record.capabilities, ...callableOperations(record)]
  const inherited = inheritedBy(declared.length, record)
  const skills = declared.map(({ name, description }) => ({
    id: name,
    name,
    description: description ?? inherited.description,
    tags: inherited.tags,
  }))
  const unique = [...new Map(skills.map((skill) => [skill.id, skill])).values()].slice(0, LIMITS.capabilities)
  return {
    name: record.name,
    description: record.description,
    version: record.version ?? '0.0.0',
    ...(version === '0.3'
      ? { protocolVersion: '0.3.0', url: bindings[0].endpoint, preferredTransport: 'JSONRPC' }
      : {}),
    ...(version === '1.0' && {
      supportedInterfaces: bindings
        .slice(0, LIMITS.bindings)
        .map(({ endpoint }) => ({ url: endpoint, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' })),
    }),
    ...(record.publisher !== undefined && { provider: { organization: record.publisher, url: facts.baseUrl } }),
    capabilities: {},
    defaultInputModes: jsonOnly,
    defaultOutputModes: jsonOnly,
    ...given('securitySchemes', securitySchemes(record, version)),
    skills: unique.map((skill, i) => (i === 0 && examples.length > 0 ? { ...skill, examples } : skill)),
  }
}

function securitySchemes(record: AgentRecord, version: AgentCardVersion): JsonObject | undefined {
  const type = record.authentication?.type
  const [kind, scheme]: [string, JsonObject] | [undefined, undefined] =
    type === 'api_key'
      ? ['apiKey', { in: 'header', location: 'header', name: 'X-API-Key' }]
      : type === 'oauth2_bearer'
        ? ['http', { scheme: 'bearer' }]
        : type === 'mtls'
          ? ['mutualTLS', {}]
          : [undefined, undefined]
  if (kind === undefined) return undefined
  return version === '0.3' ? { [kind]: { type: kind, ...scheme } } : { [kind]: { [WRAPPERS[kind] ?? kind]: scheme } }
}

/** 1.0 wraps each security scheme in a member named after its kind. */
const WRAPPERS: Record<string, string | undefined> = {
  apiKey: 'apiKeySecurityScheme',
  http: 'httpAuthSecurityScheme',
  mutualTLS: 'mtlsSecurityScheme',
}
