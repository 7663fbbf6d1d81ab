import type { JsonObject } from '../../json.js'
import type { AgentRecord, RegistryFacts } from '../record.js'
import { LIMITS } from '../schemas/parts.js'
import { documentFor, gatewayUrl, reachableBindings, registryMembers } from './derive.js'

/** The `server.json` of an agent for MCP registries; without remotes if the agent does not support MCP. */
export function toMcpServer(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const document = documentFor('mcp', record, () => derived(record, facts))
  return { ...document, ...registryMembers(record, facts) }
}

function derived(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const remotes = reachableBindings(record, facts).filter(({ protocol }) => /^mcp(\/|$)/i.test(protocol))
  return {
    name: record.id,
    title: record.name,
    description: record.description,
    version: record.version ?? '0.0.0',
    websiteUrl: gatewayUrl(record, facts).replace(/\/invoke$/, ''),
    ...(remotes.length > 0 && {
      remotes: remotes.slice(0, LIMITS.bindings).map(({ endpoint }) => ({ type: 'streamable-http', url: endpoint })),
    }),
  }
}
