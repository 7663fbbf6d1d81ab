import {
  aidipSchema,
  assertValid,
  compileSchema,
  type Issue,
  invalid,
  isObject,
  type JsonObject,
  type JsonValue,
} from '@switchboard/protocol'
import { type Condition, FACETS, type Facet } from '@switchboard/search'
import type { FastifyRequest } from 'fastify'
import { assertFilterLimits } from '../../policy/filter-limits.js'
import { DEFAULT_FACET_VALUES, MAX_FACET_VALUES } from '../../services/discovery/count-facets.js'
import { AVAILABLE } from '../../services/discovery/find.js'
import { readQuery, searchTextOf, wholeNumber } from '../read-request.js'

/** Default and maximum number of results on a page (C-47). */
const DEFAULT_TOP = 10
export const MAX_TOP = 100

/** Orders of the results of POST /agents/search. */
const SORTS = ['relevance', 'name', 'newest'] as const

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
    exact: { type: 'boolean', description: 'search for the words as they are written: no correction of typos' },
    explain: { type: 'boolean', description: 'say for each result why it was found and what its score consists of' },
    sort: {
      enum: [...SORTS],
      description: 'order of the results; default: by score, or without a query by registration',
    },
    facets: {
      type: 'array',
      maxItems: FACETS.length,
      items: { enum: [...FACETS] },
      description:
        'count the matches by these: `facets` of the response has the most frequent values; not with `federate`',
    },
    facet_limit: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_FACET_VALUES,
      description: `how many values of each are listed; default: ${DEFAULT_FACET_VALUES}`,
    },
    federate: { type: 'boolean' },
    deadline_ms: { type: 'integer', minimum: 1 },
  },
}
const check = compileSchema(searchRequestSchema)

/** A list or search request of either revision. */
export interface AidipQuery {
  readonly text: string | undefined
  /** Whether typos are left as they are. */
  readonly exact: boolean
  readonly conditions: readonly Condition[]
  readonly top: number
  readonly skip: number
  readonly ranked: boolean
  readonly full: boolean
  /** Undefined: `relevance`. */
  readonly sort?: 'name' | 'newest' | undefined
  readonly facets?: readonly Facet[] | undefined
  /** How many values of each facet are listed. */
  readonly facetLimit?: number | undefined
  /** Say why each agent was found; only with `text`. */
  readonly explained: boolean
  /** Return public agents only, even if the caller may see more. */
  readonly publicOnly: boolean
  /** 01 returns an array, 00 an object (C-01, C-02). */
  readonly shape: 'array' | 'object'
  /** What to ask the peers of this directory, if they are to be asked. */
  readonly federated?: { readonly body: JsonObject; readonly deadlineMs: number | undefined }
}

export function parseSearch(request: FastifyRequest, body: JsonValue): AidipQuery {
  assertValid(check(body))
  const { query, filters, top, skip, ranked, include_metadata: full } = isObject(body) ? body : {}
  const { exact, explain, federate, sort, facets, facet_limit: facetLimit } = isObject(body) ? body : {}
  const deadline = isObject(body) ? body.deadline_ms : undefined
  if (federate === true && facets !== undefined)
    throw invalid([
      { at: '/facets', message: 'must be omitted with federate: only agents of this directory are counted' },
    ])
  const params = readQuery(request)
  return {
    // An empty query means no query.
    text: typeof query === 'string' && query.trim() !== '' ? query : undefined,
    exact: exact === true,
    conditions: toConditions(isObject(filters) ? filters : {}, 'body'),
    top: Math.min(wholeNumber(params, 'top', 1) ?? (typeof top === 'number' ? top : DEFAULT_TOP), MAX_TOP),
    skip: wholeNumber(params, 'skip', 0) ?? (typeof skip === 'number' ? skip : 0),
    ranked: ranked !== false,
    full: full === true,
    sort: sort === 'name' || sort === 'newest' ? sort : undefined,
    facets: Array.isArray(facets) ? FACETS.filter((facet) => facets.includes(facet)) : undefined,
    facetLimit: typeof facetLimit === 'number' ? facetLimit : undefined,
    explained: explain === true,
    publicOnly: false,
    shape: shapeOf(
      request,
      params,
      [skip, ranked, full, facets].some((member) => member !== undefined),
    ),
    ...(federate === true && {
      federated: {
        body: {
          ...(query !== undefined && { query }),
          ...(filters !== undefined && { filters }),
          ...(exact === true && { exact }),
        },
        deadlineMs: typeof deadline === 'number' ? deadline : undefined,
      },
    }),
  }
}

export function parseList(request: FastifyRequest): AidipQuery {
  const params = readQuery(request)
  const skip = wholeNumber(params, 'skip', 0)
  return {
    text: searchTextOf(params),
    exact: params.get('exact') === 'true',
    conditions: toConditions(filtersOfQuery(params), 'query'),
    top: Math.min(wholeNumber(params, 'top', 1) ?? DEFAULT_TOP, MAX_TOP),
    skip: skip ?? 0,
    ranked: params.get('ranked') !== 'false',
    full: params.get('include_metadata') === 'true',
    explained: params.get('explain') === 'true',
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

type FilterKind = 'capability' | 'tag' | 'language' | 'protocol' | 'publisher' | 'authentication' | 'status'

/** Filters by name; the drafts have several names for each (C-12, C-13, C-14). */
const FILTER_KINDS = new Map<string, FilterKind>([
  ['capability', 'capability'],
  ['capabilities', 'capability'],
  ['tag', 'tag'],
  ['tags', 'tag'],
  ['language', 'language'],
  ['supported_language', 'language'],
  ['supported_languages', 'language'],
  ['publisher', 'publisher'],
  ['provider', 'publisher'],
  ['vendor', 'publisher'],
  ['protocols', 'protocol'],
  ['authentication', 'authentication'],
  ['status', 'status'],
])

/** Members that are strings by the draft's schema: a filter of another type could never match. */
const TEXT_MEMBERS = new Set(
  Object.entries(isObject(aidipSchema.properties) ? aidipSchema.properties : {}).flatMap(([name, schema]) =>
    isObject(schema) && schema.type === 'string' ? [name] : [],
  ),
)

/**
 * Converts AIDIP filters to conditions, all of which must hold. An agent must have every requested capability, tag and
 * language (C-15). A filter that is not in `FILTER_KINDS` is compared with the document's member of that name (C-50).
 * Query parameters are compared as text.
 */
function toConditions(filters: JsonObject, from: 'body' | 'query'): Condition[] {
  const at = from === 'query' ? '?' : '/filters/'
  assertFilterLimits(filters, at)
  const issues: Issue[] = []
  const conditions = Object.entries(filters).flatMap(([name, value]) => {
    const kind = FILTER_KINDS.get(name)
    if (kind === undefined) {
      if (value === null) issues.push({ at: at + name, message: 'must not be null' })
      else if (TEXT_MEMBERS.has(name) && !toStrings(value)) issues.push({ at: at + name, message: NOT_STRINGS })
      return [{ kind: 'member', name, value, asText: from === 'query' } satisfies Condition]
    }
    const values = toStrings(value)
    if (!values) issues.push({ at: at + name, message: NOT_STRINGS })
    return toCondition(kind, values ?? [])
  })
  if (issues.length > 0) throw invalid(issues)
  // A filter on status or id also finds agents that are not available (C-21).
  const includesUnavailable = ['status', 'id'].some((name) => Object.hasOwn(filters, name))
  return includesUnavailable ? conditions : [...conditions, AVAILABLE]
}

function toCondition(kind: FilterKind, values: string[]): Condition[] {
  switch (kind) {
    case 'capability':
    case 'tag':
    case 'language':
      return [{ kind, all: values }]
    case 'protocol':
      return values.map((value) => ({ kind, value }))
    default:
      return [{ kind, anyOf: values }]
  }
}

const NOT_STRINGS = 'must be a string or an array of strings'

function toStrings(value: JsonValue): string[] | undefined {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return undefined
  const strings = value.filter((item) => typeof item === 'string')
  return strings.length === value.length ? strings : undefined
}

/** Parameters of GET /agents that are not filters. */
const NOT_FILTERS = new Set(['top', 'skip', 'shape', 'q', 'query', 'exact', 'ranked', 'include_metadata', 'explain'])

/** Query parameters as filters. Lists are separated by commas or repeated (C-14); a publisher's name may contain commas. */
function filtersOfQuery(params: URLSearchParams): JsonObject {
  const filters: JsonObject = {}
  for (const name of new Set(params.keys())) {
    if (NOT_FILTERS.has(name)) continue
    if (name === '__proto__') throw invalid([{ at: `?${name}`, message: 'is not allowed as a member name' }])
    const values = params.getAll(name)
    const kind = FILTER_KINDS.get(name)
    if (kind === undefined) filters[name] = values.length === 1 ? (values[0] ?? '') : values
    else filters[name] = values.flatMap((text) => (kind === 'publisher' ? text : text.split(','))).filter(isNotEmpty)
  }
  return filters
}

const isNotEmpty = (text: string): boolean => text !== ''
