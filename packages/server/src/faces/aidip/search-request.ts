import { assertValid, compileSchema, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import { readQuery, wholeNumber } from '../read-request.js'
import { filtersOfQuery } from './filters.js'

/** Default and maximum number of results on a page (C-47). */
const DEFAULT_TOP = 10
const MAX_TOP = 100

/** The body of POST /agents/search in both revisions. */
export const searchRequestSchema: JsonObject = {
  $id: 'urn:switchboard:schema:aidip-search',
  type: 'object',
  properties: {
    query: { type: 'string' },
    filters: { type: 'object' },
    top: { type: 'integer', minimum: 1 },
    skip: { type: 'integer', minimum: 0 },
    ranked: { type: 'boolean' },
    include_metadata: { type: 'boolean' },
  },
}
const check = compileSchema(searchRequestSchema)

/** A list or search request of either revision. */
export interface AidipQuery {
  readonly text: string | undefined
  readonly filters: JsonObject
  readonly top: number
  readonly skip: number
  readonly ranked: boolean
  readonly full: boolean
  /** Return public agents only, even if the caller may see more. */
  readonly publicOnly: boolean
  /** 01 returns an array, 00 an object (C-01, C-02). */
  readonly shape: 'array' | 'object'
}

export function parseSearch(request: FastifyRequest, body: JsonValue): AidipQuery {
  assertValid(check(body))
  const { query, filters, top, skip, ranked, include_metadata: full } = isObject(body) ? body : {}
  const params = readQuery(request)
  return {
    // An empty query means no query.
    text: typeof query === 'string' && query.trim() !== '' ? query : undefined,
    filters: isObject(filters) ? filters : {},
    top: Math.min(wholeNumber(params, 'top', 1) ?? (typeof top === 'number' ? top : DEFAULT_TOP), MAX_TOP),
    skip: wholeNumber(params, 'skip', 0) ?? (typeof skip === 'number' ? skip : 0),
    ranked: ranked !== false,
    full: full === true,
    publicOnly: false,
    shape: shapeOf(
      request,
      params,
      [skip, ranked, full].some((member) => member !== undefined),
    ),
  }
}

export function parseList(request: FastifyRequest): AidipQuery {
  const params = readQuery(request)
  const skip = wholeNumber(params, 'skip', 0)
  const text = params.get('q') ?? params.get('query')
  return {
    text: text === null || text.trim() === '' ? undefined : text,
    filters: filtersOfQuery(params),
    top: Math.min(wholeNumber(params, 'top', 1) ?? DEFAULT_TOP, MAX_TOP),
    skip: skip ?? 0,
    ranked: params.get('ranked') !== 'false',
    full: params.get('include_metadata') === 'true',
    publicOnly: isPublicList(request),
    shape: shapeOf(request, params, skip !== undefined || params.has('ranked') || params.has('include_metadata')),
  }
}

/** Whether the request uses revision 00, by its base path or by `Accept`. */
export function isRevision00(request: FastifyRequest): boolean {
  return pathOf(request).startsWith('/v0/') || /;\s*profile="?aidip-00\b/i.test(request.headers.accept ?? '')
}

const isPublicList = (request: FastifyRequest): boolean => pathOf(request).endsWith('/agents/public')

/** The route's path; the URL of the request may be encoded differently. */
const pathOf = (request: FastifyRequest): string => request.routeOptions.config.route?.path ?? ''

function shapeOf(request: FastifyRequest, params: URLSearchParams, has00Member: boolean): 'array' | 'object' {
  const shape = params.get('shape')
  if (shape === 'array' || shape === 'object') return shape
  return isRevision00(request) || has00Member || isPublicList(request) ? 'object' : 'array'
}
