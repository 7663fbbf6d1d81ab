import { asString, DirectoryError, invalid, isObject, type JsonObject, parseJsonBody } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import { isAvailable } from '../../services/discovery/find.js'
import type { McpServers, ServerFilter } from '../../services/discovery/mcp-servers.js'
import type { Readable } from '../../services/registry/read.js'
import { isListUnchanged } from '../list-validators.js'
import { readQuery, readTime, wholeNumber } from '../read-request.js'
import { renderOnce, sendAgent } from '../respond.js'
import type { Route, RouteGroup } from '../route-group.js'
import { flagParameter, numberParameter, timeParameter } from '../schemas/parameter.js'
import { type DescribedResponse, json } from '../schemas/response.js'
import { listParts, sendParts } from '../send-parts.js'
import { registryError, registryPage, registryServer } from './registry-schemas.js'

export interface McpRegistryOptions {
  readonly context: Context
  readonly servers: McpServers
}

const DEFAULT_LIMIT = 30
const MAX_LIMIT = 100
/** Characters of a search text, and of a cursor, which contains it. */
const MAX_SEARCH = 256
const MAX_CURSOR = 2048

/** The only version of a server that a directory keeps, by the name that the registry API has for it. */
const LATEST = 'latest'

const INCLUDE_DELETED = { include_deleted: flagParameter('also list servers that are out of service; default: false') }

const notFound = (description: string): DescribedResponse => ({
  description,
  content: { 'application/json': registryError, 'application/problem+json': registryError },
})

/**
 * The read-only part of the MCP registry API, version 0.1, for editors and mirrors. The agents are those that speak MCP; each
 * has one version, its latest.
 */
export function createMcpRegistryRoutes({ context, servers }: McpRegistryOptions): RouteGroup {
  const write = (server: Readable): JsonObject => ({ server: servers.write(server), _meta: metaOf(server) })

  const list = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const params = readQuery(request)
    const limit = Math.min(wholeNumber(params, 'limit', 1) ?? DEFAULT_LIMIT, MAX_LIMIT)
    const { after, filter } = readPosition(params)
    if (isUnchanged(request, reply)) return reply.code(304).send()
    const page = servers.list({ ...toFilter(filter), after, take: limit, caller: request.caller })
    request.visited += page.visited
    const { last } = page
    return sendServers(reply, page.servers, last === undefined ? {} : { nextCursor: writeCursor(last, filter) })
  }

  const sendServers = (reply: FastifyReply, found: readonly Readable[], metadata: JsonObject): FastifyReply => {
    const entries = found.map((server) => renderOnce(server.agent, viewOf(server), () => write(server)))
    const rest = JSON.stringify({ metadata: { ...metadata, count: entries.length } }).slice(1)
    return sendParts(reply, listParts('{"servers":[', entries, `],${rest}`))
  }

  const isUnchanged = (request: FastifyRequest, reply: FastifyReply): boolean =>
    isListUnchanged(request, reply, context, { caller: request.caller, showsTimes: false })

  /** The server that the path names. */
  const read = (request: FastifyRequest): Readable => {
    const { name, version } = pathOf(request)
    try {
      const server = servers.read(name, request.caller, readFlag(readQuery(request), 'include_deleted'))
      if (version === undefined || version === LATEST || servers.write(server).version === version) return server
      throw new DirectoryError('not_found', `the MCP server "${name}" has no version "${version}": use "${LATEST}"`)
    } catch (error) {
      if (!(error instanceof DirectoryError)) throw error
      // In the registry's API, `error` is a sentence.
      throw new DirectoryError(error.code, error.message, { members: { error: error.message }, cause: error })
    }
  }

  const ofServer = (route: Pick<Route, 'path' | 'summary' | 'responses' | 'handle'>): Route => ({
    method: 'GET',
    access: 'discover',
    limit: 'lookup',
    query: INCLUDE_DELETED,
    ...route,
  })

  return {
    name: 'mcp-registry',
    summary: 'The directory as a registry of MCP servers, for editors',
    errors: 'application/json',
    routes: [
      {
        method: 'GET',
        path: '/v0.1/servers',
        summary: 'The MCP servers that you may see',
        access: 'discover',
        limit: 'lookup',
        query: {
          cursor: 'metadata.nextCursor of the page before; the filters of the first request stay in force',
          limit: numberParameter(`servers per page, at most ${MAX_LIMIT} (default: ${DEFAULT_LIMIT})`, 1),
          search: 'part of the name, title or description',
          updated_since: timeParameter(
            'only servers changed since this time; also lists those that are out of service',
          ),
          version: `"${LATEST}", or an exact version`,
          ...INCLUDE_DELETED,
        },
        responses: { 200: json('a page of servers', registryPage), 304: 'not modified' },
        handle: list,
      },
      ofServer({
        path: '/v0.1/servers/:name/versions',
        summary: 'The versions of an MCP server: the directory keeps the latest',
        responses: {
          200: json('its only version', registryPage),
          304: 'not modified',
          404: notFound('no such server'),
        },
        handle: (request, reply) => {
          const server = read(request)
          if (isUnchanged(request, reply)) return reply.code(304).send()
          return sendServers(reply, [server], {})
        },
      }),
      ofServer({
        path: '/v0.1/servers/:name/versions/:version',
        summary: `One version of an MCP server, or "${LATEST}"`,
        responses: {
          200: json('the server', registryServer),
          304: 'not modified',
          404: notFound('no such server, or not in that version'),
        },
        handle: (request, reply) => {
          const server = read(request)
          return sendAgent(request, reply, { ...server, view: VIEW, write: () => write(server) })
        },
      }),
    ],
  }
}

const VIEW = 'mcp-registry'
const viewOf = ({ record }: Readable): string => (record.redacted ? `${VIEW}.r` : VIEW)

/** What the registry says about a server. */
function metaOf({ agent: { stored, status } }: Readable): JsonObject {
  return {
    'io.modelcontextprotocol.registry/official': {
      status: isAvailable(status) ? (status === 'deprecated' ? 'deprecated' : 'active') : 'deleted',
      publishedAt: new Date(stored.createdAt).toISOString(),
      updatedAt: new Date(stored.modifiedAt).toISOString(),
      isLatest: true,
    },
  }
}

/** The filters of a list, as text. */
type Filter = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>
const FILTERS = ['search', 'updated_since', 'version', 'include_deleted'] as const

interface Position {
  /** The name that the page starts after. */
  readonly after?: string
  readonly filter: Filter
}

/**
 * Where the page starts, and the filters. A cursor contains those of the first request: editors follow it without repeating
 * them. What the request repeats takes precedence.
 */
function readPosition(params: URLSearchParams): Position {
  const cursor = params.get('cursor') ?? ''
  const given = Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = params.get(name)
      return value === null || value === '' ? [] : [[name, value]]
    }),
  )
  if (cursor === '') return { filter: given }
  const position = readCursor(cursor)
  return { ...position, filter: { ...position.filter, ...given } }
}

/** Contains the name of the last server shown, and nothing that the caller did not know. */
const writeCursor = (after: string, filter: Filter): string =>
  Buffer.from(JSON.stringify({ after, ...filter })).toString('base64url')

function readCursor(text: string): Position {
  const value = text.length > MAX_CURSOR ? undefined : tryParse(Buffer.from(text, 'base64url'))
  const after = isObject(value) ? asString(value.after) : undefined
  if (!isObject(value) || after === undefined)
    throw invalid([{ at: '?cursor', message: 'is not a cursor of this list: leave it out to start again' }])
  const filter = FILTERS.flatMap((name) => {
    const own = asString(value[name])
    return own === undefined ? [] : [[name, own]]
  })
  return { after, filter: Object.fromEntries(filter) }
}

function tryParse(bytes: Uint8Array): unknown {
  try {
    return parseJsonBody(bytes)
  } catch {
    return undefined
  }
}

function toFilter(filter: Filter): ServerFilter {
  const params = new URLSearchParams(filter)
  const { search, version } = filter
  if (search !== undefined && search.length > MAX_SEARCH)
    throw invalid([{ at: '?search', message: `must have at most ${MAX_SEARCH} characters` }])
  const updatedSince = readTime(params, 'updated_since')
  return {
    search,
    updatedSince,
    version: version === LATEST ? undefined : version,
    // A mirror must learn that a server is no longer offered.
    includeDeleted: updatedSince !== undefined || readFlag(params, 'include_deleted'),
  }
}

function readFlag(params: URLSearchParams, name: string): boolean {
  const text = params.get(name) ?? 'false'
  if (text !== 'true' && text !== 'false') throw invalid([{ at: `?${name}`, message: 'must be true or false' }])
  return text === 'true'
}

function pathOf({ params }: FastifyRequest): { name: string; version: string | undefined } {
  const { name, version } = isObject(params) ? params : {}
  return { name: asString(name) ?? '', version: asString(version) }
}
