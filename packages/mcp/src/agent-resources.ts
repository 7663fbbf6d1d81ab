import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server'
import { type AgentView, ClientError, type DirectoryClient } from '@switchboard/client'
import { oneLine } from './fence.js'

/** The documents of an agent that can be read as resources. */
const DOCUMENTS: Readonly<Record<string, AgentView>> = {
  'metadata.json': 'aidip',
  'profile.json': 'profile',
  'agent.json': 'descriptor',
  'agent-card.json': 'a2a',
  'server.json': 'mcp',
}

/** The document that every agent has. */
const METADATA = 'metadata.json'
const NAMES = Object.keys(DOCUMENTS)

/** Agents in the list of resources; the templates lead to all others. */
const MAX_LISTED = 50
/** Completions that MCP allows in one response. */
const MAX_COMPLETIONS = 100

const TYPE = 'application/json'

/** The URI of a document of an agent. */
export const resourceUri = (id: string, document = METADATA): string =>
  `switchboard://agents/${encodeURIComponent(id)}/${document}`

/**
 * Offers the documents of agents as resources: some agents in the list, and every document of every agent by template. Their
 * publishers wrote them, so they are data.
 */
export function registerAgentResources(server: McpServer, directory: Pick<DirectoryClient, 'get' | 'lookup'>): void {
  const idsLike = async (prefix: string): Promise<string[]> => {
    // Patterns have one star, at the end.
    if (prefix.includes('*')) return []
    const { agents } = await directory.lookup({ agent: `${prefix}*`, count: MAX_COMPLETIONS })
    return agents.map(({ agent }) => agent)
  }
  server.registerResource(
    'agent',
    new ResourceTemplate('switchboard://agents/{id}/{document}', {
      list: async ({ mcpReq: { signal } }) => {
        const { agents } = await directory.lookup({ count: MAX_LISTED }, { signal })
        const resources = agents.map(({ agent, description }) => ({
          uri: resourceUri(agent),
          name: oneLine(agent),
          description: `Written by the publisher of the agent: ${oneLine(description)}`,
          mimeType: TYPE,
        }))
        return { resources }
      },
      complete: {
        id: idsLike,
        document: (prefix) => NAMES.filter((name) => name.startsWith(prefix)),
      },
    }),
    {
      title: 'Documents of an agent',
      description: `The agent in the format of each draft, as its publisher describes it: ${NAMES.join(', ')}`,
      mimeType: TYPE,
    },
    async ({ href }, { id, document }, { mcpReq: { signal } }) => {
      const view = DOCUMENTS[String(document)]
      if (!view) throw new ResourceNotFoundError(href, `there is no such document: use one of ${NAMES.join(', ')}`)
      try {
        const { id: _id, ...rest } = await directory.get(decodeURIComponent(String(id)), { view, signal })
        return { contents: [{ uri: href, mimeType: TYPE, text: JSON.stringify(rest) }] }
      } catch (error) {
        if (error instanceof ClientError && error.code === 'not_found')
          throw new ResourceNotFoundError(href, 'there is no such agent, or it has no document of this kind')
        throw error
      }
    },
  )
}
