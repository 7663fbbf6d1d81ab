import { createHash } from 'node:crypto'
import {
  type AgentRecord,
  chooseMediaType,
  DESCRIPTOR_CONTEXT,
  DESCRIPTOR_TYPES,
  DirectoryError,
  type JsonObject,
  type RegistryFacts,
  speaksMcp,
  toDescriptor,
  toMcpServer,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asAnonymous } from '../../policy/caller.js'
import type { Context } from '../../services/context.js'
import type { PublicListing } from '../../services/discovery/public-listing.js'
import type { Signing } from '../../services/identity/signing.js'
import type { AgentCards } from '../../services/registry/agent-cards.js'
import { readAgent } from '../../services/registry/read.js'
import { isListUnchanged } from '../list-validators.js'
import { idOf, readQuery } from '../read-request.js'
import { type AgentDocument, isUnchanged, sendAgent, sendJson } from '../respond.js'
import type { Route, RouteGroup } from '../route-group.js'
import { agentCardView, descriptorView, mcpServerView } from '../schemas/documents.js'
import { choiceParameter, IF_NONE_MATCH } from '../schemas/parameter.js'
import { json } from '../schemas/response.js'
import { sendParts } from '../send-parts.js'
import { toDirectoryCard } from './directory-card.js'
import { agentsIndexSchema, asDescriptor, keySetSchema } from './response-schemas.js'

export interface DescriptorsOptions {
  readonly context: Context
  readonly listing: PublicListing
  readonly signing: Signing
  readonly cards: AgentCards
  readonly baseUrl: () => string
  readonly version: string
  /** What callers without credentials may discover. */
  readonly anonymous: 'public' | 'none'
}

/** Chooses the view of an agent's document, and how to write it if it is not cached. */
type WriteDocument = (
  record: AgentRecord,
  facts: () => RegistryFacts,
  type: string,
) => Pick<AgentDocument, 'view' | 'write'>

/** Seconds for which caches may use a descriptor without revalidation. */
const MAX_AGE = 60

/** agent.json, agent-card.json and server.json of every agent, and the directory's own card (C-86). */
export function createDescriptorsRoutes(options: DescriptorsOptions): RouteGroup {
  const { context, listing, signing, cards } = options
  const ownCard = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const type = chooseType(request)
    const facts = { lifetime: context.maxLifetime, receivedAt: STARTED, modifiedAt: STARTED }
    const card = toDirectoryCard({
      id: options.baseUrl(),
      version: options.version,
      anonymous: options.anonymous,
      facts,
    })
    const tag = `"${createHash('sha1').update(JSON.stringify(card)).digest('base64url')}"`
    reply.header('cache-control', `public, max-age=${MAX_AGE}`)
    if (isUnchanged(request, reply, tag, STARTED)) return reply.code(304).send()
    return sendJson(reply, card, type)
  }
  const ofAgent = (
    file: string,
    summary: string,
    schema: JsonObject,
    handle: Route['handle'],
    query: Route['query'] = {},
  ): Route => ({
    method: 'GET',
    path: `/agents/:id/${file}`,
    summary,
    access: 'discover',
    limit: 'lookup',
    query,
    headers: IF_NONE_MATCH,
    responses: {
      200: asDescriptor('the document', schema),
      304: 'not modified',
      404: 'no such agent, or it has no such document',
      406: 'not available in that media type',
    },
    handle,
  })
  const sendDocument =
    (write: WriteDocument): Route['handle'] =>
    (request, reply) => {
      const type = chooseType(request)
      const { agent, record } = readAgent(context, idOf(request), request.caller)
      const document = write(record, () => context.catalog.facts(agent), type)
      return sendAgent(request, reply, { agent, record, type, maxAge: MAX_AGE, ...document })
    }
  const sendCard: Route['handle'] = async (request, reply) => {
    const type = chooseType(request)
    const readable = readAgent(context, idOf(request), request.caller)
    const version = readQuery(request).get('version') === '0.3' ? '0.3' : '1.0'
    const { kind, view, text } = await cards.of(readable, version)
    // A signed card has no room for what the directory knows about the agent: its metadata has.
    if (kind === 'signed' || kind === 'managed')
      reply.header('link', `</agents/${encodeURIComponent(readable.record.id)}>; rel="describedby"`)
    return sendAgent(request, reply, { ...readable, type, maxAge: MAX_AGE, view, write: () => text })
  }
  return {
    name: 'descriptors',
    summary: 'agent.json, A2A cards, MCP server.json and keys',
    errors: 'application/problem+json',
    routes: [
      {
        method: 'GET',
        path: '/.well-known/agents.json',
        summary: 'The public agents of this directory, by name',
        access: 'discover',
        limit: 'lookup',
        headers: IF_NONE_MATCH,
        responses: { 200: json('names and descriptor URLs', agentsIndexSchema), 304: 'not modified' },
        handle: (request, reply) => {
          if (isListUnchanged(request, reply, context, { caller: asAnonymous(request.caller), showsTimes: false }))
            return reply.code(304).send()
          return sendParts(reply, listing.parts())
        },
      },
      ...['agent.json', 'agent-card.json'].map(
        (file): Route => ({
          method: 'GET',
          path: `/.well-known/${file}`,
          summary: 'The card of this directory',
          access: 'open',
          headers: IF_NONE_MATCH,
          responses: {
            200: asDescriptor('the card', agentCardView),
            304: 'not modified',
            406: 'not available in that media type',
          },
          handle: ownCard,
        }),
      ),
      {
        method: 'GET',
        path: '/.well-known/jwks.json',
        summary: 'Public keys of this directory',
        access: 'open',
        responses: {
          200: json(
            'a JSON Web Key Set: the keys that sign responses and webhooks, current and recently retired',
            keySetSchema,
          ),
        },
        handle: (_request, reply) =>
          sendJson(reply.header('cache-control', `public, max-age=${MAX_AGE}`), { keys: signing.publicKeys() }),
      },
      ofAgent(
        'agent.json',
        'The descriptor of one agent (agent:// URIs)',
        descriptorView,
        sendDocument((record, facts, type) =>
          type === 'application/ld+json'
            ? {
                view: 'descriptor-ld',
                write: () => ({ '@context': DESCRIPTOR_CONTEXT, ...toDescriptor(record, facts()) }),
              }
            : { view: 'descriptor', write: () => toDescriptor(record, facts()) },
        ),
      ),
      ofAgent('agent-card.json', 'The A2A card of one agent', agentCardView, sendCard, {
        version: choiceParameter(
          ['0.3', '1.0'],
          'version of A2A (default: 1.0); a card that the publisher wrote keeps its own',
        ),
      }),
      ofAgent(
        'server.json',
        'The MCP server.json of one agent that speaks MCP',
        mcpServerView,
        sendDocument((record, facts) => {
          if (!speaksMcp(record)) throw noDocument(record, 'does not speak MCP, so it has no server.json')
          return { view: 'mcp', write: () => toMcpServer(record, facts()) }
        }),
      ),
    ],
  }
}

/** The agent exists, but not in this format: says where to read about it and how to call it. */
function noDocument({ id }: AgentRecord, reason: string): DirectoryError {
  const path = `/agents/${encodeURIComponent(id)}`
  return new DirectoryError('not_found', `this agent ${reason}: read ${path}, and call it with POST ${path}/invoke`)
}

const STARTED = Date.now()

/** The media type of the response; throws 406 with the supported ones if the client accepts none (AURI §8.1). */
function chooseType({ headers }: FastifyRequest): string {
  const type = chooseMediaType(headers.accept, DESCRIPTOR_TYPES)
  if (type !== undefined) return type
  throw new DirectoryError('not_acceptable', `this document is available as ${DESCRIPTOR_TYPES.join(', ')}`, {
    members: { supported: [...DESCRIPTOR_TYPES] },
  })
}
