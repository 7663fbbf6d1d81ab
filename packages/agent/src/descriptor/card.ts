import { DESCRIPTOR_CONTEXT, given, type JsonObject, STREAM_TYPES } from '@switchboard/protocol'
import type { Capability } from '../capability.js'
import type { Versions } from '../versions.js'
import { type AgentBinding, bindingsOf } from './bindings.js'
import type { Description, Reach } from './description.js'

const JSON_TYPE = 'application/json'

export interface CardOptions {
  readonly description: Description
  readonly versions: Versions
  readonly reach: Reach
  /** Seconds until a session without calls expires. */
  readonly sessionLifetime: number
  readonly delegation: boolean
}

/**
 * The document at agent.json and agent-card.json (C-86): an A2A card that also has the descriptor members of AURI §7 and
 * §10.
 */
export function toCard({ description: about, versions, reach, sessionLifetime, delegation }: CardOptions): JsonObject {
  const bindings = bindingsOf(reach)
  const a2a = bindings.find(({ protocol }) => protocol === 'a2a')
  const capabilities = [...versions.latest.capabilities.values()]
  const byProtocol = <T extends JsonObject[string]>(toMember: (binding: AgentBinding) => T): JsonObject =>
    Object.fromEntries(bindings.map((binding) => [binding.protocol, toMember(binding)]))
  const basePath = reach.baseUrl === undefined ? '' : new URL(reach.baseUrl).pathname.replace(/\/$/, '')
  return {
    '@context': DESCRIPTOR_CONTEXT,
    id: about.id ?? about.name,
    name: about.name,
    description: about.description,
    version: versions.latest.version,
    ...mainInterface(reach.baseUrl, a2a?.endpoint),
    ...(about.publisher !== undefined && {
      provider: { organization: about.publisher, url: reach.baseUrl ?? 'about:blank' },
    }),
    ...given('documentationUrl', about.documentationUrl),
    tags: [...(about.tags ?? [])],
    examples: (about.examples ?? []).map((text) => ({ text })),
    ...(about.languages && { supported_languages: [...about.languages] }),
    status: about.status ?? 'active',
    // A2A's feature flags; the agent's capabilities are listed as `skills`.
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: [JSON_TYPE, 'text/plain'],
    defaultOutputModes: [JSON_TYPE, 'text/plain'],
    supportedInterfaces: (a2a ? ['1.0', '0.3'] : []).map((protocolVersion) => ({
      url: a2a?.endpoint ?? '',
      protocolBinding: 'JSONRPC',
      protocolVersion,
    })),
    skills: capabilities.map(toSkill),
    bindings: bindings.map(({ protocol, endpoint, details }, priority) => ({
      ...details,
      protocol,
      endpoint,
      priority,
    })),
    transport: byProtocol(({ endpoint }) => endpoint),
    security: byProtocol(({ security }) => [...security]),
    authentication: { schemes: [...reach.schemes] },
    ...securitySchemes(reach.schemes),
    versionNegotiation: {
      preferred: 'header',
      header: 'X-Agent-Version',
      query: 'version',
      path: `${basePath}/v{version}/`,
    },
    ...(versions.older.length > 0 && {
      supportedVersions: Object.fromEntries(versions.older.map(({ version }) => [version, `${basePath}/v${version}/`])),
    }),
    errorFormat: 'application/problem+json',
    state: {
      session: { header: 'X-Session-ID', query: 'sessionId', envelope: 'sessionId', lifetimeSeconds: sessionLifetime },
      task: { header: 'X-Task-ID', path: `${basePath}/tasks/{taskId}`, preference: 'respond-async' },
    },
    ...(delegation && { delegation: { header: 'X-Delegation-Chain', format: 'delegation+jwt' } }),
    ...given('interactionModel', about.interactionModel),
    ...given('orchestration', about.orchestration),
    ...given('privacy', about.privacy),
    ...about.extensions,
  }
}

/** `url` is what A2A 0.3 clients send messages to; without A2A, it is the agent's address (AURI §7). */
function mainInterface(baseUrl: string | undefined, a2aUrl: string | undefined): JsonObject {
  if (a2aUrl === undefined) return given('url', baseUrl)
  return { url: a2aUrl, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' }
}

function toSkill(capability: Capability): JsonObject {
  const { name, description, version, tags, examples, input, output, scopes } = capability
  const outputs = [JSON_TYPE, ...(capability.outputFormats ?? []), ...(capability.streaming ? STREAM_TYPES : [])]
  return {
    id: name,
    name,
    description,
    version,
    tags: [...tags],
    ...(examples && { examples: [...examples] }),
    inputModes: [JSON_TYPE],
    outputModes: outputs,
    input,
    output,
    contentTypes: { inputFormat: [JSON_TYPE], outputFormat: outputs },
    ...(capability.safe && { method: 'GET' }),
    ...((capability.idempotent || capability.safe) && { idempotent: true }),
    ...(capability.streaming && { streaming: true }),
    ...(capability.deferred && { deferred: true }),
    ...(scopes && { scopes: [...scopes] }),
    ...given('isDeterministic', capability.isDeterministic),
    ...given('expectedOutputVariability', capability.expectedOutputVariability),
    ...given('requiresContext', capability.requiresContext),
    ...given('memoryEnabled', capability.memoryEnabled),
    ...given('responseLatency', capability.responseLatency),
    ...given('confidenceEstimation', capability.confidenceEstimation),
  }
}

/** The authentication schemes as A2A writes them; a caller needs only one. */
function securitySchemes(schemes: readonly string[]): JsonObject {
  const named = schemes.flatMap((scheme) => {
    const known = A2A_SCHEMES[scheme]
    return known ? [[scheme, known] as const] : []
  })
  if (named.length === 0) return {}
  const isOpen = schemes.includes('none')
  return {
    securitySchemes: Object.fromEntries(named),
    securityRequirements: isOpen ? [] : named.map(([scheme]) => ({ schemes: { [scheme]: { list: [] } } })),
  }
}

const A2A_SCHEMES: Readonly<Record<string, JsonObject | undefined>> = {
  api_key: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
  oauth2_bearer: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } },
  mtls: { mtlsSecurityScheme: {} },
}
