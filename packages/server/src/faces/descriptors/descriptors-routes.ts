import { createHash } from 'node:crypto'
import {
  type AgentRecord,
  chooseMediaType,
  DESCRIPTOR_CONTEXT,
  DESCRIPTOR_TYPES,
  DirectoryError,
  type JsonObject,
  type RegistryFacts,
  readRecord,
  toAgentCard,
  toDescriptor,
  toMcpServer,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asAnonymous } from '../../policy/caller.js'
import type { Context } from '../../services/context.js'
import type { PublicListing } from '../../services/discovery/public-listing.js'
import type { Signing } from '../../services/identity/signing.js'
import { readAgent } from '../../services/registry/read.js'
import { isListUnchanged } from '../list-validators.js'
import { idOf, readQuery } from '../read-request.js'
import { type AgentDocument, isUnchanged, sendAgent, sendJson } from '../respond.js'
import type { Route, RouteGroup } from '../route-group.js'
import { sendParts } from '../send-parts.js'

export interface DescriptorsOptions {
  readonly context: Context
  readonly listing: PublicListing
  readonly signing: Signing
  readonly baseUrl: () => string
  readonly version: string
  /** What callers without credentials may discover. */
  readonly anonymous: 'public' | 'none'
}

/** Chooses the view of an agent's document, and how to write it if it is not cached. */
type WriteDocument = (
  record: AgentRecord,
  facts: () => RegistryFacts,
  requested: { type: string; oldest: boolean },
) => Pick<AgentDocument, 'view' | 'write'>

/** Seconds for which caches may use a descriptor without revalidation. */
const MAX_AGE = 60

/** agent.json, agent-card.json and server.json of every agent, and the directory's own card (C-86). */
export function createDescriptorsRoutes(options: DescriptorsOptions): RouteGroup {
  const { context, listing, signing } = options
  const ownCard = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const type = chooseType(request)
    const card = directoryCard(options)
    const tag = `"${createHash('sha1').update(JSON.stringify(card)).digest('base64url')}"`
    reply.header('cache-control', `public, max-age=${MAX_AGE}`)
    if (isUnchanged(request, reply, tag, STARTED)) return reply.code(304).send()
    return sendJson(reply, card, type)
  }
  const ofAgent = (file: string, summary: string, write: WriteDocument, query: Route['query'] = {}): Route => ({
    method: 'GET',
    path: `/agents/:id/${file}`,
    summary,
    access: 'discover',
    limit: 'lookup',
    query,
    responses: {
      200: 'the document',
      304: 'not modified',
      404: 'no such agent',
      406: 'not available in that media type',
    },
    handle: (request, reply) => {
      const type = chooseType(request)
      const { agent, record } = readAgent(context, idOf(request), request.caller)
      const facts = (): RegistryFacts => context.catalog.facts(agent)
      const document = write(record, facts, { type, oldest: readQuery(request).get('version') === '0.3' })
      return sendAgent(request, reply, { agent, record, type, maxAge: MAX_AGE, ...document })
    },
  })
  return {
    name: 'descriptors',
    errors: 'application/problem+json',
    routes: [
      {
        method: 'GET',
        path: '/.well-known/agents.json',
        summary: 'The public agents of this directory, by name',
        access: 'discover',
        limit: 'lookup',
        responses: { 200: 'names and descriptor URLs', 304: 'not modified' },
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
          responses: { 200: 'the card', 304: 'not modified', 406: 'not available in that media type' },
          handle: ownCard,
        }),
      ),
      {
        method: 'GET',
        path: '/.well-known/jwks.json',
        summary: 'Public keys of this directory',
        access: 'open',
        responses: {
          200: 'a JSON Web Key Set: the keys that sign responses and webhooks, current and recently retired',
        },
        handle: (_request, reply) =>
          sendJson(reply.header('cache-control', `public, max-age=${MAX_AGE}`), { keys: signing.publicKeys() }),
      },
      ofAgent('agent.json', 'The descriptor of one agent (agent:// URIs)', (record, facts, { type }) =>
        type === 'application/ld+json'
          ? {
              view: 'descriptor-ld',
              write: () => ({ '@context': DESCRIPTOR_CONTEXT, ...toDescriptor(record, facts()) }),
            }
          : { view: 'descriptor', write: () => toDescriptor(record, facts()) },
      ),
      ofAgent(
        'agent-card.json',
        'The A2A card of one agent',
        (record, facts, { oldest }) =>
          oldest
            ? { view: 'card03', write: () => toAgentCard(record, facts(), '0.3') }
            : { view: 'card', write: () => toAgentCard(record, facts()) },
        { version: 'version of A2A: 0.3, or 1.0 (default)' },
      ),
      ofAgent('server.json', 'The MCP server.json of one agent', (record, facts) => ({
        view: 'mcp',
        write: () => toMcpServer(record, facts()),
      })),
    ],
  }
}

const STARTED = Date.now()

/** The directory's own card: an A2A card that is also a descriptor by AURI §7. */
function directoryCard({ baseUrl, version, anonymous, context }: DescriptorsOptions): JsonObject {
  const id = baseUrl()
  const schemes = [...(anonymous === 'public' ? ['none'] : []), 'api_key', 'oauth2_bearer']
  const record = readRecord(
    'aidip',
    {
      id,
      name: 'Switchboard',
      description: 'Directory of AI agents: register agents, find the right one for a task, read how to call it.',
      version,
      capabilities: ['agent-discovery', 'agent-registration'],
      tags: ['directory', 'discovery', 'registry'],
      endpoint: `${id}/agents/search`,
      protocols: ['https'],
      authentication: { type: schemes[0] ?? 'none', schemes },
      operations: [
        {
          name: 'search',
          description: 'Find agents by natural language and filters.',
          inputs: { query: 'string' },
          outputs: {},
        },
      ],
    },
    id,
  )
  const facts = {
    baseUrl: id,
    number: 0,
    verification: { state: 'self-asserted' },
    lifetime: context.maxLifetime,
    receivedAt: STARTED,
    modifiedAt: STARTED,
  }
  const { capabilities: _list, ...descriptor } = toDescriptor(record, facts)
  return { ...descriptor, ...toAgentCard(record, facts) }
}

/** The media type of the response; throws 406 with the supported ones if the client accepts none (AURI §8.1). */
function chooseType({ headers }: FastifyRequest): string {
  const type = chooseMediaType(headers.accept, DESCRIPTOR_TYPES)
  if (type !== undefined) return type
  throw new DirectoryError('not_acceptable', `this document is available as ${DESCRIPTOR_TYPES.join(', ')}`, {
    members: { supported: [...DESCRIPTOR_TYPES] },
  })
}
