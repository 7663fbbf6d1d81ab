import { component } from '../schemas/component.js'
import { anyObject, count, flag, list, object, oneOf, text, time } from '../schemas/parts.js'

const official = object({
  status: { ...oneOf('active', 'deprecated', 'deleted'), description: '`deleted`: out of service' },
  publishedAt: time,
  updatedAt: time,
  isLatest: flag,
})

/** One server: its `server.json`, and what the registry says about it. */
export const registryServer = component(
  'McpRegistryServer',
  object({
    server: {
      ...object({ name: text, title: text, description: text, version: text }, 'title'),
      description: 'the `server.json` of the agent, by the schema of 2025-12-11',
      additionalProperties: true,
    },
    _meta: object({ 'io.modelcontextprotocol.registry/official': official }),
  }),
)

/** A page of servers. */
export const registryPage = object({
  servers: list(registryServer),
  metadata: object(
    {
      nextCursor: { ...text, description: 'where the next page starts; absent on the last page' },
      count: { ...count, description: 'servers on this page' },
    },
    'nextCursor',
  ),
})

/** In the API of registries, `error` is a sentence. The other members are those of all errors. */
export const registryError = { ...anyObject, required: ['error'], properties: { error: text } }
