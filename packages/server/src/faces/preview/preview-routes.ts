import {
  DOCUMENT_FORMATS,
  given,
  type JsonObject,
  speaksMcp,
  toAgentCard,
  toAidip,
  toDescriptor,
  toDirectory,
  toMcpServer,
  toProfile,
} from '@switchboard/protocol'
import type { Context } from '../../services/context.js'
import type { AgentCards } from '../../services/registry/agent-cards.js'
import { previewAgent } from '../../services/registry/preview.js'
import { readJsonObject, readQuery } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import {
  agentCardView,
  aidipView,
  descriptorView,
  directoryView,
  mcpServerView,
  profileView,
} from '../schemas/documents.js'
import { object, oneOf, text, texts } from '../schemas/parts.js'
import { json } from '../schemas/response.js'

const previewSchema: JsonObject = {
  type: 'object',
  description: 'a document of any draft, an A2A card, a server.json or an OpenAPI description',
}

const previewedSchema = object({
  id: text,
  format: oneOf(...DOCUMENT_FORMATS),
  effect: oneOf('create', 'replace', 'refresh'),
  warnings: texts,
  views: object(
    {
      aidip: aidipView,
      aidip00: aidipView,
      profile: profileView,
      directory: directoryView,
      descriptor: descriptorView,
      a2a: agentCardView,
      mcp: mcpServerView,
    },
    'a2a',
    'mcp',
  ),
})

/** What registering a document would do, for forms that check while somebody types. */
export function createPreviewRoutes(context: Context, cards: Pick<AgentCards, 'isAnswered'>): RouteGroup {
  return {
    name: 'preview',
    summary: 'What registering a document would do',
    errors: 'application/json',
    noStore: true,
    routes: [
      {
        method: 'POST',
        path: '/preview',
        summary: 'What registering a document would do: its problems, warnings and all views; changes nothing',
        access: 'caller',
        limit: 'lookup',
        query: { id: 'the id or name of the agent, if the document states none' },
        body: previewSchema,
        responses: {
          200: json('the effect, the warnings, and the agent in every format that it has', previewedSchema),
          400: 'the document has errors, which are listed',
          403: 'the caller may not register it',
          409: 'the name belongs to another publisher, or a newer version is stored',
        },
        handle: (request, reply) => {
          const id = readQuery(request).get('id') ?? undefined
          const preview = previewAgent(context, readJsonObject(request), id, request.caller)
          const { effect, record, facts, warnings } = preview
          const isAnswered = cards.isAnswered({ record, stored: { marks: {} } })
          return sendJson(reply, {
            id: record.id,
            format: record.format,
            effect,
            warnings: [...warnings],
            views: {
              aidip: toAidip(record, facts),
              aidip00: toAidip(record, facts, '00'),
              profile: toProfile(record, facts),
              directory: toDirectory(record, facts),
              descriptor: toDescriptor(record, facts),
              ...given('a2a', toAgentCard(record, facts, { isAnswered })),
              ...(speaksMcp(record) && { mcp: toMcpServer(record, facts) }),
            },
          })
        },
      },
    ],
  }
}
