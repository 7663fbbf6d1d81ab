import type { JsonObject } from '../../json.js'
import { type AgentRecord, given, type RegistryFacts } from '../record.js'
import { LIMITS } from '../schemas/parts.js'
import { callableOperations, inheritedBy, originOf } from './derive.js'

/** Versions of the A2A card that can be written; a registered card keeps its own version. */
export type AgentCardVersion = '0.3' | '1.0'

/** Where the directory answers A2A messages for an agent. */
export const managedUrl = ({ id }: Pick<AgentRecord, 'id'>, { baseUrl }: Pick<RegistryFacts, 'baseUrl'>): string =>
  `${baseUrl}/agents/${encodeURIComponent(id)}/a2a`

/** The interface of an A2A server of this directory, in both versions that it speaks. */
export function managedInterface(url: string, version: AgentCardVersion): JsonObject {
  if (version === '0.3') return { protocolVersion: '0.3.0', url, preferredTransport: 'JSONRPC' }
  const versions: AgentCardVersion[] = ['1.0', '0.3']
  return {
    supportedInterfaces: versions.map((protocolVersion) => ({ url, protocolBinding: 'JSONRPC', protocolVersion })),
  }
}

/**
 * The credentials for an A2A server of this directory. The scope stands where OAuth has its scopes: an empty list would not
 * be part of what a signature covers, because A2A leaves empty values out.
 */
export function managedSecurity(version: AgentCardVersion, scope: 'invoke' | 'discover'): JsonObject {
  if (version === '0.3')
    return {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      security: [{ bearer: [scope] }, { apiKey: [scope] }],
    }
  return {
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
      apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
    },
    securityRequirements: ['bearer', 'apiKey'].map((name) => ({ schemes: { [name]: { list: [scope] } } })),
  }
}

/** Says where a copy is registered, and whether private parts were left out. */
const DIRECTORY_EXTENSION = 'urn:switchboard:a2a:directory'

const MODES = ['application/json', 'text/plain']

/**
 * The card of an agent for which this directory is the A2A server. It has members of A2A only and no empty values, so that
 * its signature is valid for clients that verify the text as well as for those that parse the card first, as SDKs do.
 */
export function toManagedCard(record: AgentRecord, facts: RegistryFacts, version: AgentCardVersion): JsonObject {
  const { name, description } = record
  const params = { ...originOf(facts), ...(record.redacted && { redacted: true }) }
  return {
    name,
    description: description || name,
    version: record.version || '0.0.0',
    ...managedInterface(managedUrl(record, facts), version),
    ...(record.publisher && { provider: { organization: record.publisher, url: facts.baseUrl } }),
    capabilities: {
      streaming: true,
      ...(Object.keys(params).length > 0 && { extensions: [{ uri: DIRECTORY_EXTENSION, params }] }),
    },
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    ...managedSecurity(version, 'invoke'),
    skills: toSkills(record),
  }
}

/** The operations: what a message to the directory can be for. */
function toSkills(record: AgentRecord): JsonObject[] {
  const operations = callableOperations(record).slice(0, LIMITS.capabilities)
  const inherited = inheritedBy(operations.length, record)
  const tags = inherited.tags.filter((tag) => tag !== '')
  const examples = record.examples.flatMap(({ text }) => (text === '' ? [] : [text])).slice(0, LIMITS.examples)
  return operations.map(({ name, description }, i) => ({
    id: name,
    name,
    description: description || inherited.description || name,
    tags: tags.length > 0 ? tags : [name],
    ...given('examples', i === 0 && examples.length > 0 ? examples : undefined),
  }))
}
