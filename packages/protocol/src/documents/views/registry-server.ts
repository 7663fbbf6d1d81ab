import { asObjects, asString, type JsonObject } from '../../json.js'
import type { AgentRecord, RegistryFacts } from '../record.js'
import { cut, serverName, toMcpServer, versionOf } from './mcp-server.js'

/**
 * The server.json of an agent as a registry lists it. Its name is the id, or made from it, so that no two agents have the same. A
 * publisher's own document may be older than the schema, or not follow it: what clients of registries rely on is made to fit.
 */
export function toRegistryServer(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const server = toMcpServer(record, facts)
  if (record.format !== 'mcp') return server
  const { title: own, packages, ...rest } = server
  const title = cut(asString(own) ?? '')
  return {
    ...rest,
    name: serverName(record.id, facts.baseUrl),
    ...(title !== '' && { title }),
    description: cut(record.description) || title || cut(record.id),
    version: versionOf(record),
    // The transport of packages was optional once.
    ...(packages !== undefined && {
      packages: asObjects(packages).map((each) => ({ transport: { type: 'stdio' }, ...each })),
    }),
  }
}
