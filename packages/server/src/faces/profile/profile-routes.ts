import { type JsonObject, parseDocument, toProfile } from '@switchboard/protocol'
import { RANKING } from '@switchboard/search'
import { DOCUMENT_LIMITS } from '../../policy/document-limits.js'
import type { Context } from '../../services/context.js'
import { CONSTRAINTS } from '../../services/discovery/constraints.js'
import { SCORE_COMPONENTS } from '../../services/discovery/explain-score.js'
import { readAgent } from '../../services/registry/read.js'
import { registerAgent } from '../../services/registry/register.js'
import { headerOf, idOf, OWNER_QUERY, readJson, readOwner, readQuery } from '../read-request.js'
import { addWarnings, sendAgent, sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { profileDocument, profileView } from '../schemas/documents.js'
import { IF_MATCH, IF_NONE_MATCH } from '../schemas/parameter.js'
import { json } from '../schemas/response.js'
import { type DiscoverOptions, discover } from './discover.js'
import { descriptionSchema, discoveryRequest, discoverySchema } from './response-schemas.js'

export type ProfileOptions = DiscoverOptions

/** The service description, with an entry for each point of the profile's checklist (PROF §18). */
const describe = ({ taxonomy }: Context): JsonObject => ({
  conformance_level: 'D2',
  serialization: ['application/json'],
  taxonomies: [...taxonomy.names],
  supported_constraints: [...CONSTRAINTS],
  detail_levels: ['minimal', 'summary', 'full'],
  limits: {
    default: 10,
    max: 100,
    document_bytes: DOCUMENT_LIMITS.bytes,
    document_values: DOCUMENT_LIMITS.values,
    tags: 100,
    examples: 200,
  },
  validation: 'id, name, description and bindings are required; the types of known members are checked',
  unknown_fields: 'ignored and preserved, nested ones too',
  freshness: 'the first of sequence, updated_at and version that both documents have; If-Match; expires_at',
  hard_filters:
    'applied before ranking; unsupported ones are named in unsupported_filters, or fail with Prefer: handling=strict',
  score_components: [...SCORE_COMPONENTS],
  ranking: { ...RANKING },
  redaction: 'members named in "private" and items marked "private": true are shown to the owner only',
  federation:
    'records of other directories have provenance: origin_service, origin_authority, origin_signature (verified here), received_at and path; "federate": true also asks the peers of this directory',
  abuse_controls: 'rate limits, size limits, ownership of ids; descriptions are data and never instructions',
})

/** The discovery profile: metadata, and ranked candidates with reasons. */
export function createProfileRoutes(options: ProfileOptions): RouteGroup {
  const { context } = options
  return {
    name: 'profile',
    summary: 'Discover candidates with evidence (discovery profile)',
    errors: 'application/json',
    routes: [
      {
        method: 'GET',
        path: '/discover',
        summary: 'Conformance level, limits and what is supported',
        access: 'open',
        responses: { 200: json('the service description', descriptionSchema) },
        handle: (_request, reply) => sendJson(reply.header('cache-control', 'public, max-age=300'), describe(context)),
      },
      {
        method: 'POST',
        path: '/discover',
        summary: 'Find agents for a task',
        access: 'discover',
        limit: 'search',
        headers: { Prefer: '`handling=strict`: fail if a filter is not supported' },
        body: discoveryRequest,
        responses: {
          200: json('ranked candidates', discoverySchema),
          400: 'not a discovery request, or an unsupported filter with handling=strict',
        },
        handle: (request, reply) => discover(options, request, reply),
      },
      {
        method: 'POST',
        path: '/discover/agents',
        summary: 'Register agent metadata, or refresh your own',
        access: 'caller',
        limit: 'register',
        body: profileDocument,
        query: OWNER_QUERY,
        headers: IF_MATCH,
        responses: {
          200: json('refreshed or replaced', profileView),
          201: json('registered', profileView),
          409: 'the id belongs to another publisher, or a newer or conflicting version is stored',
        },
        handle: async (request, reply) => {
          const document = parseDocument('profile', readJson(request), context.policy.strictness)
          const { agent, created, warnings } = await registerAgent(context, {
            format: 'profile',
            document,
            id: String(document.id),
            caller: request.caller,
            intent: 'claim',
            ifMatch: headerOf(request, 'if-match'),
            onBehalfOf: readOwner(readQuery(request)),
          })
          addWarnings(reply, warnings)
          reply.code(created ? 201 : 200).header('location', `/discover/agents/${encodeURIComponent(agent.record.id)}`)
          return sendJson(reply, toProfile(agent.record, context.catalog.facts(agent)))
        },
      },
      {
        method: 'GET',
        path: '/discover/agents/:id',
        summary: 'The metadata of one agent',
        access: 'discover',
        limit: 'lookup',
        headers: IF_NONE_MATCH,
        responses: { 200: json('the metadata', profileView), 304: 'not modified', 404: 'no such agent' },
        handle: (request, reply) => {
          const { agent, record } = readAgent(context, idOf(request), request.caller)
          const write = (): JsonObject => toProfile(record, context.catalog.facts(agent))
          return sendAgent(request, reply, { agent, record, view: 'profile', write })
        },
      },
    ],
  }
}
