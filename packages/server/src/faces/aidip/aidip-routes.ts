import { aidipSchema, invalid, type JsonObject, parseDocument, toAidip, toAidipSummary } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asStranger } from '../../policy/caller.js'
import type { Outcomes } from '../../services/calls/outcomes.js'
import type { Context } from '../../services/context.js'
import { type Found, findAgents } from '../../services/discovery/find.js'
import type { Grants } from '../../services/identity/grants.js'
import { type Registered, registerAgent } from '../../services/registry/register.js'
import { removeAgent } from '../../services/registry/remove.js'
import { addWarnings, headerOf, renderOnce, sendJson, sendJsonText } from '../answer.js'
import { readJson } from '../body.js'
import { isListUnchanged } from '../lists.js'
import { readOwner, readQuery } from '../query.js'
import type { Route, RouteGroup } from '../route-group.js'
import { toConditions } from './filters.js'
import { type AidipQuery, isRevision00, parseList, parseSearch, searchRequestSchema } from './search-request.js'
import { sendMetadata } from './send-metadata.js'

export interface AidipOptions {
  readonly context: Context
  readonly grants: Grants
  readonly outcomes: Outcomes
}

/** Base paths: 01 as drafted and with its number, 00 below its own (C-01). */
const BASES = ['', '/v1', '/v0']

const LIST_QUERY = {
  top: 'how many at the most, 1 to 100 (10)',
  skip: 'how many to pass over',
  q: 'words to search for',
  capabilities: 'names the agent must have, by commas',
  tags: 'tags the agent must have, by commas',
  language: 'a language the agent must take',
  shape: 'array or object, whatever the revision',
}

/** AIDIP-01 and AIDIP-00: metadata, registration, attribute search, retrieval. */
export function createAidipRoutes(options: AidipOptions): RouteGroup {
  return { name: 'aidip', errors: 'application/json', routes: BASES.flatMap((base) => routesBelow(base, options)) }
}

function routesBelow(base: string, options: AidipOptions): Route[] {
  const { context } = options
  const list = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (isListUnchanged(request, reply, context.catalog, options.grants.version)) return reply.code(304).send()
    return answer(context, request, reply, parseList(request), 'agents')
  }
  return [
    {
      method: 'POST',
      path: `${base}/agents`,
      summary: 'Register an agent, or replace one of your own',
      access: 'caller',
      limit: 'register',
      query: { owner: 'for administrators: whose the agent is' },
      body: aidipSchema,
      answers: {
        200: 'replaced',
        201: 'registered',
        409: 'the id belongs to another publisher, or a newer one is stored',
      },
      handle: async (request, reply) => {
        const document = parseDocument('aidip', readJson(request), context.policy.strictness)
        const registered = await registerAgent(context, {
          format: 'aidip',
          document,
          id: typeof document.id === 'string' ? document.id : undefined,
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
      summary: 'List agents, by filters or words',
      access: 'discover',
      limit: 'lookup',
      query: LIST_QUERY,
      answers: { 200: 'summaries: an array (01) or an object (00)', 304: 'as the client has it' },
      handle: list,
    },
    {
      method: 'GET',
      path: `${base}/agents/public`,
      summary: 'List the agents that are open to all (00)',
      access: 'discover',
      limit: 'lookup',
      query: LIST_QUERY,
      answers: { 200: 'an object with agents and count', 304: 'as the client has it' },
      handle: list,
    },
    {
      method: 'POST',
      path: `${base}/agents/search`,
      summary: 'Search by filters and by natural language',
      access: 'discover',
      limit: 'search',
      body: searchRequestSchema,
      answers: { 200: 'summaries: an array (01) or an object with results (00)' },
      handle: (request, reply) => answer(context, request, reply, parseSearch(request, readJson(request)), 'results'),
    },
    {
      method: 'GET',
      path: `${base}/agents/:id`,
      summary: 'The full metadata of one agent',
      access: 'discover',
      limit: 'lookup',
      answers: {
        200: 'the metadata',
        304: 'as the client has it',
        404: 'no such agent, as far as the caller may know',
      },
      handle: (request, reply) => sendMetadata(options, idOf(request), request, reply),
    },
    {
      method: 'PUT',
      path: `${base}/agents/:id`,
      summary: 'Replace the metadata of an agent of your own',
      access: 'caller',
      limit: 'register',
      body: aidipSchema,
      answers: {
        200: 'replaced',
        403: 'another publisher’s agent',
        404: 'no such agent',
        412: 'If-Match no longer fits',
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
      summary: 'Remove an agent of your own',
      access: 'caller',
      limit: 'register',
      answers: { 204: 'gone', 403: 'another publisher’s agent', 404: 'no such agent' },
      handle: async (request, reply) => {
        await removeAgent(context, idOf(request), request.caller, headerOf(request, 'if-match'))
        return reply.code(204).send()
      },
    },
  ]
}

export function idOf(request: FastifyRequest): string {
  const { params } = request
  return typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : ''
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

/** A page of summaries, or of whole documents, in the shape that the revision has. */
async function answer(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  query: AidipQuery,
  member: 'agents' | 'results',
): Promise<FastifyReply> {
  const started = performance.now()
  const { found, total, warnings } = await findAgents(context, {
    conditions: toConditions(query.filters, member === 'agents' ? 'query' : 'body'),
    text: query.text,
    order: !query.ranked ? 'name' : query.text === undefined ? 'registration' : 'score',
    skip: query.skip,
    take: query.top,
    caller: query.publicOnly ? asStranger(request.caller) : request.caller,
  })
  const items = `[${found.map((hit) => itemText(context, request, query, hit)).join(',')}]`
  const next = query.skip + found.length < total ? nextPage(request, query) : undefined
  if (query.shape === 'array') {
    reply.header('x-total-count', String(total))
    if (next !== undefined) reply.header('link', `<${next}>; rel="next"`)
    addWarnings(reply, warnings)
    return sendJsonText(reply, items)
  }
  const rest: JsonObject = {
    count: total,
    top: query.top,
    skip: query.skip,
    ...(query.text !== undefined && { query: query.text }),
    ...(member === 'results' && { search_time: Math.round((performance.now() - started) * 1000) / 1000 }),
    ...(next !== undefined && { next }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  }
  return sendJsonText(reply, `{"${member}":${items},${JSON.stringify(rest).slice(1)}`)
}

/** Rendered once for each agent; the score, which belongs to the query, is put in before the closing brace. */
function itemText(
  context: Context,
  request: FastifyRequest,
  query: AidipQuery,
  { agent, record, score }: Found,
): string {
  const revision = isRevision00(request) || query.shape === 'object' ? '00' : '01'
  const view = query.full ? `aidip${revision}` : 'aidip-summary'
  const text = renderOnce(agent, record.redacted ? `${view}.r` : view, () =>
    query.full
      ? toAidip(record, context.catalog.facts(agent), revision)
      : toAidipSummary(record, context.catalog.facts(agent)),
  )
  return score === undefined || !query.ranked ? text : `${text.slice(0, -1)},"score":${Math.round(score * 1e4) / 1e4}}`
}

/** The next page by the same question; a search repeats its body. */
function nextPage(request: FastifyRequest, query: AidipQuery): string {
  const params = readQuery(request)
  params.set('top', String(query.top))
  params.set('skip', String(query.skip + query.top))
  // `skip` alone would mean revision 00 and change the shape in the middle of the pages.
  params.set('shape', query.shape)
  return `${request.url.split('?')[0]}?${params}`
}
