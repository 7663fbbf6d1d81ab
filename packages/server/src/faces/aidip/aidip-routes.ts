import {
  type DocumentFormat,
  detectFormat,
  invalid,
  isObject,
  type JsonObject,
  parseDocument,
  toAidip,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asAnonymous, type Caller } from '../../policy/caller.js'
import type { Outcomes } from '../../services/calls/outcomes/outcomes.js'
import type { Context } from '../../services/context.js'
import type { FacetCounts } from '../../services/discovery/count-facets.js'
import { type Found, type FoundPage, findAgents } from '../../services/discovery/find.js'
import type { FanOut } from '../../services/federation/fan-out.js'
import { idFor } from '../../services/registry/import-agent.js'
import { type Registered, registerAgent } from '../../services/registry/register.js'
import { removeAgent } from '../../services/registry/remove.js'
import { isListUnchanged } from '../list-validators.js'
import { headerOf, idOf, OWNER_QUERY, readJson, readLanguages, readOwner, readQuery } from '../read-request.js'
import { addSpelling, addVary, addWarnings, linkNext, renderFound, sendJson, toSpelling } from '../respond.js'
import { belowAidipBases, type Route, type RouteGroup } from '../route-group.js'
import {
  agentCardDocument,
  aidipDocument,
  aidipView,
  mcpServerDocument,
  openApiDocument,
} from '../schemas/documents.js'
import { choiceParameter, flagParameter, IF_MATCH, IF_NONE_MATCH, numberParameter } from '../schemas/parameter.js'
import { json } from '../schemas/response.js'
import { listParts, sendParts } from '../send-parts.js'
import { itemText } from './item-text.js'
import { listResponse, searchRequest, searchResponse } from './response-schemas.js'
import { type AidipQuery, isRevision00, parseList, parseSearch } from './search-request.js'
import { type RenderedPage, searchWithPeers } from './search-with-peers.js'
import { sendMetadata } from './send-metadata.js'

export interface AidipOptions {
  readonly context: Context
  readonly outcomes: Outcomes
  readonly fanOut: FanOut
}

const PAGE_QUERY = {
  top: numberParameter('maximum number of results, 1 to 100 (default: 10)', 1),
  skip: numberParameter('number of results to skip'),
  shape: choiceParameter(['array', 'object'], 'default: the shape of the revision'),
}

const LIST_QUERY = {
  ...PAGE_QUERY,
  q: 'search text',
  exact: flagParameter('search for the words as they are written, without correcting typos'),
  capabilities: 'capabilities the agent must have, separated by commas',
  tags: 'tags the agent must have, separated by commas',
  language: 'a language the agent must support',
  explain: flagParameter('say for each result of a text search why it was found'),
  include_metadata: flagParameter('list whole documents instead of summaries'),
}

/** AIDIP-01 and AIDIP-00: registration, retrieval, attribute search and search by text. */
export function createAidipRoutes(options: AidipOptions): RouteGroup {
  return {
    name: 'aidip',
    summary: 'Register, read and search agents (AIDIP)',
    errors: 'application/json',
    routes: belowAidipBases((base) => routesBelow(base, options), ['/v1']),
  }
}

function routesBelow(base: string, options: AidipOptions): Route[] {
  const { context } = options
  const list = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const query = parseList(request)
    const showsTimes = query.full || query.text !== undefined
    if (query.text !== undefined) addVary(reply, 'accept-language')
    if (isListUnchanged(request, reply, context, { caller: viewerOf(request, query), showsTimes }))
      return reply.code(304).send()
    return sendPage(options, request, reply, query, 'agents')
  }
  return [
    {
      method: 'POST',
      path: `${base}/agents`,
      summary:
        'Register an agent, or replace one of yours; also from an OpenAPI document, an A2A card or a server.json',
      access: 'caller',
      limit: 'register',
      query: { ...OWNER_QUERY, id: 'the id, if the document states none: cards and server.json files do not' },
      headers: IF_MATCH,
      body: { anyOf: [aidipDocument, agentCardDocument, mcpServerDocument, openApiDocument] },
      responses: {
        200: json('replaced', aidipView),
        201: json('registered', aidipView),
        409: 'the id belongs to another publisher, or a newer version is stored',
        412: 'the agent has changed since the revision in If-Match',
      },
      handle: async (request, reply) => {
        const sent = readJson(request)
        const format = isObject(sent) ? formatOf(sent) : 'aidip'
        const document = parseDocument(format, sent, context.policy.strictness)
        const wanted = readQuery(request).get('id') ?? undefined
        if (wanted !== undefined && document.id !== undefined && document.id !== wanted)
          throw invalid([{ at: '?id', message: 'must be the id in the document, or be left out' }])
        const registered = await registerAgent(context, {
          format,
          document,
          id: idFor(format, document, wanted),
          caller: request.caller,
          intent: 'claim',
          ifMatch: headerOf(request, 'if-match'),
          onBehalfOf: readOwner(readQuery(request)),
        })
        return sendRegistered(context, request, reply, registered, base)
      },
    },
    {
      method: 'GET',
      path: `${base}/agents`,
      summary: 'List agents, by filters or text',
      access: 'discover',
      limit: 'lookup',
      limitWithText: 'search',
      query: LIST_QUERY,
      headers: IF_NONE_MATCH,
      responses: { 200: listResponse, 304: 'not modified' },
      handle: list,
    },
    {
      method: 'GET',
      path: `${base}/agents/public`,
      summary: 'List the public agents (revision 00)',
      access: 'discover',
      limit: 'lookup',
      limitWithText: 'search',
      query: LIST_QUERY,
      headers: IF_NONE_MATCH,
      responses: { 200: listResponse, 304: 'not modified' },
      handle: list,
    },
    {
      method: 'POST',
      path: `${base}/agents/search`,
      summary: 'Search by filters and by natural language',
      access: 'discover',
      limit: 'search',
      query: PAGE_QUERY,
      body: searchRequest,
      responses: { 200: searchResponse },
      handle: (request, reply) => sendPage(options, request, reply, parseSearch(request, readJson(request)), 'results'),
    },
    {
      method: 'GET',
      path: `${base}/agents/:id`,
      summary: 'The full metadata of one agent',
      access: 'discover',
      limit: 'lookup',
      headers: IF_NONE_MATCH,
      responses: {
        200: {
          description: 'the metadata',
          content: { 'application/json': aidipView, 'application/agent-card+json': aidipView },
        },
        304: 'not modified',
        404: 'no such agent that the caller may see',
      },
      handle: (request, reply) => sendMetadata(options, idOf(request), request, reply),
    },
    {
      method: 'PUT',
      path: `${base}/agents/:id`,
      summary: 'Replace the metadata of one of your agents',
      access: 'caller',
      limit: 'register',
      headers: IF_MATCH,
      body: aidipDocument,
      responses: {
        200: json('replaced', aidipView),
        403: 'the agent belongs to another publisher',
        404: 'no such agent',
        412: 'the agent has changed since the revision in If-Match',
      },
      handle: async (request, reply) => {
        const id = idOf(request)
        const document = parseDocument('aidip', readJson(request), context.policy.strictness)
        if (document.id !== undefined && document.id !== id)
          throw invalid([{ at: '/id', message: `must be "${id}", as in the path` }])
        const registered = await registerAgent(context, {
          format: 'aidip',
          document,
          id,
          caller: request.caller,
          intent: 'replace',
          ifMatch: headerOf(request, 'if-match'),
        })
        return sendRegistered(context, request, reply, registered, base)
      },
    },
    {
      method: 'DELETE',
      path: `${base}/agents/:id`,
      summary: 'Remove one of your agents',
      access: 'caller',
      limit: 'register',
      headers: IF_MATCH,
      responses: {
        204: 'removed',
        403: 'the agent belongs to another publisher',
        404: 'no such agent',
        412: 'the agent has changed since the revision in If-Match',
      },
      handle: async (request, reply) => {
        await removeAgent(context, idOf(request), request.caller, headerOf(request, 'if-match'))
        return reply.code(204).send()
      },
    },
  ]
}

function sendRegistered(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { agent, created, warnings }: Registered,
  base: string,
): FastifyReply {
  addWarnings(reply, warnings)
  const revision = isRevision00(request) ? '00' : '01'
  reply.header('location', `${base}/agents/${encodeURIComponent(agent.record.id)}`)
  return sendJson(reply.code(created ? 201 : 200), toAidip(agent.record, context.catalog.facts(agent), revision))
}

const viewerOf = ({ caller }: FastifyRequest, { publicOnly }: AidipQuery): Caller =>
  publicOnly ? asAnonymous(caller) : caller

/** Sends one page of summaries or full documents, in the shape of the requested revision. */
async function sendPage(
  options: AidipOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  query: AidipQuery,
  member: 'agents' | 'results',
): Promise<FastifyReply> {
  const started = performance.now()
  const { context } = options
  const find = (skip: number, take: number): Promise<FoundPage> =>
    findAgents(context, {
      conditions: query.conditions,
      text: query.text,
      exact: query.exact,
      callerLanguages: readLanguages(request),
      order: query.sort ?? (!query.ranked ? 'name' : query.text === undefined ? 'registration' : 'score'),
      facets: query.shape === 'object' ? query.facets : undefined,
      facetLimit: query.facetLimit,
      skip,
      take,
      explained: query.explained,
      caller: viewerOf(request, query),
      trace: request.trace,
    })
  const render = (hit: Found, page: FoundPage): string => itemText(context, request, query, hit, page)
  const page = query.federated
    ? await searchWithPeers(options, viewerOf(request, query), request.trace, query, find, render)
    : await renderPage(context, query, find(query.skip, query.top), render)
  const { items, searchId, total, warnings } = page
  request.visited += page.visited
  const next = query.skip + items.length < total ? nextPage(request, query) : undefined
  if (searchId !== undefined) reply.header('x-search-id', searchId)
  if (query.shape === 'array') {
    reply.header('x-total-count', String(total))
    addSpelling(reply, page)
    addWarnings(reply, [
      ...warnings,
      ...(query.facets ? [NO_FACETS] : []),
      ...(next === undefined ? [] : linkNext(reply, next)),
    ])
    return sendParts(reply, listParts('[', items, ']'))
  }
  const rest: JsonObject = {
    count: total,
    top: query.top,
    skip: query.skip,
    ...(query.text !== undefined && { query: query.text }),
    ...(member === 'results' && { search_time: Math.round((performance.now() - started) * 1000) / 1000 }),
    ...(next !== undefined && { next }),
    ...(page.facets && { facets: toFacets(page.facets) }),
    ...toSpelling(page),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  }
  return sendParts(reply, listParts(`{"${member}":[`, items, `],${JSON.stringify(rest).slice(1)}`))
}

const NO_FACETS = 'facets are left out of arrays: omit shape=array to get an object'

const toFacets = (facets: FacetCounts): JsonObject =>
  Object.fromEntries(Object.entries(facets).map(([name, values]) => [name, values.map((each) => ({ ...each }))]))

async function renderPage(
  context: Context,
  { text }: AidipQuery,
  finding: Promise<FoundPage>,
  render: (hit: Found, page: FoundPage) => string,
): Promise<RenderedPage> {
  const page = await finding
  const { found } = page
  const renderHit = (hit: Found): string => render(hit, page)
  return {
    ...page,
    searchId: page.searchIdFor(found),
    items: text === undefined ? found.map(renderHit) : renderFound(context, found, renderHit),
  }
}

/** URL of the next page of the same query; a search sends the same body again. */
function nextPage(request: FastifyRequest, query: AidipQuery): string {
  const params = readQuery(request)
  params.set('top', String(query.top))
  params.set('skip', String(query.skip + query.top))
  // `skip` alone means revision 00, which would change the shape between pages.
  params.set('shape', query.shape)
  return `${request.url.split('?')[0]}?${params}`
}

/** Cards and server.json files are registered here too, if they cannot be meant as AIDIP metadata. */
function formatOf(document: JsonObject): DocumentFormat {
  const format = document.endpoint === undefined ? detectFormat(document) : undefined
  return format === 'a2a' || format === 'mcp' ? format : 'aidip'
}
