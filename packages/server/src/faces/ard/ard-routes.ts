import { CATALOG_TYPE, isObject, toArdEntry } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readEntry } from '../../services/discovery/read-entry.js'
import { sendAgent } from '../respond.js'
import type { Route, RouteGroup } from '../route-group.js'
import { json, plain } from '../schemas/response.js'
import { toArdError } from './ard-errors.js'
import { exploreEntries, exploreSchema } from './explore.js'
import { LIST_QUERY, listEntries } from './list.js'
import { MANIFEST_PATHS, type ManifestOptions, sendManifest, sendNested } from './manifest.js'
import { catalogSchema, entrySchema, facetsSchema, itemsSchema, resultsSchema } from './response-schemas.js'
import { type ArdSearchOptions, searchEntries, searchSchema } from './search.js'

export type ArdOptions = ArdSearchOptions & ManifestOptions

/** Seconds for which caches may use an entry without revalidation. */
const MAX_AGE = 60

/** The search interface of Agentic Resource Discovery, 0.9 and 0.91. */
export function createArdRoutes(options: ArdOptions): RouteGroup {
  const { context } = options
  return {
    name: 'ard',
    summary: 'Agentic Resource Discovery: search, count and browse entries',
    errors: 'application/json',
    errorMembers: toArdError,
    routes: [
      {
        method: 'POST',
        path: '/ard/search',
        summary: 'Entries by relevance',
        access: 'discover',
        limit: 'search',
        body: searchSchema,
        responses: { 200: json('a page of entries with scores', resultsSchema), 400: 'not a valid query' },
        handle: (request, reply) => searchEntries(options, request, reply),
      },
      {
        method: 'POST',
        path: '/ard/explore',
        summary: 'How many entries have which values',
        access: 'discover',
        limit: 'search',
        body: exploreSchema,
        responses: { 200: json('the most frequent values', facetsSchema), 400: 'not a valid query' },
        handle: (request, reply) => exploreEntries(context, request, reply),
      },
      {
        method: 'GET',
        path: '/ard/agents',
        summary: 'Entries without ranking',
        access: 'discover',
        limit: 'lookup',
        query: LIST_QUERY,
        responses: { 200: json('a page of entries', itemsSchema), 304: 'not modified', 400: 'not a valid filter' },
        handle: (request, reply) => listEntries(options, request, reply),
      },
      {
        method: 'GET',
        path: '/ard/agents/:urn',
        summary: 'The entry with this identifier',
        access: 'discover',
        limit: 'lookup',
        responses: {
          200: json('the entry', entrySchema),
          304: 'not modified',
          400: 'not an identifier',
          404: 'no such entry',
        },
        handle: (request, reply) => sendEntry(options, request, reply),
      },
      {
        method: 'GET',
        path: '/ard/catalogs/:page',
        summary: 'A part of the public agents, as the manifest of a large directory names it',
        access: 'discover',
        limit: 'lookup',
        responses: {
          200: { description: 'the catalog', content: { [CATALOG_TYPE]: catalogSchema } },
          304: 'not modified',
          404: 'no such catalog',
        },
        handle: (request, reply) => sendNested(options, request, reply, parameterOf(request, 'page')),
      },
    ],
  }
}

/** The manifest of ARD and AI Catalog, and where crawlers find it. */
export function createManifestRoutes(options: ManifestOptions): RouteGroup {
  const manifest = (path: string, type: string): Route => ({
    method: 'GET',
    path,
    summary: 'The public agents of this directory as entries, or the catalogs that list them',
    access: 'discover',
    limit: 'lookup',
    responses: { 200: { description: 'the manifest', content: { [type]: catalogSchema } }, 304: 'not modified' },
    handle: (request, reply) => sendManifest(options, request, reply, type),
  })
  return {
    name: 'manifest',
    summary: 'The manifest of ARD and AI Catalog',
    errors: 'application/problem+json',
    errorMembers: toArdError,
    routes: [
      manifest(MANIFEST_PATHS.ard, 'application/json'),
      manifest(MANIFEST_PATHS.catalog, CATALOG_TYPE),
      {
        method: 'GET',
        path: '/robots.txt',
        summary: 'What crawlers may read, and where the manifest is',
        access: 'open',
        isPage: true,
        responses: { 200: plain('where the manifest is', 'text/plain') },
        handle: (_request, reply) =>
          reply
            .header('content-type', 'text/plain; charset=utf-8')
            .header('cache-control', 'public, max-age=3600')
            .send(`User-agent: *\nDisallow:\n\nAgentmap: ${options.baseUrl()}${MANIFEST_PATHS.ard}\n`),
      },
    ],
  }
}

/** Sends one entry. It may be cached like the descriptors of an agent (ARD 0.91 §5.3.4). */
function sendEntry({ context }: ArdOptions, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { agent, record } = readEntry(context, parameterOf(request, 'urn'), request.caller)
  const write = () => toArdEntry(record, context.catalog.facts(agent))
  return sendAgent(request, reply, { agent, record, view: 'ard', write, maxAge: MAX_AGE })
}

const parameterOf = ({ params }: FastifyRequest, name: string): string => (isObject(params) ? String(params[name]) : '')
