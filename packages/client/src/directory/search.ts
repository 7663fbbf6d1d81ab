import { asObjects, asStrings, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import { type AgentSummary, listIn, readSummary } from './documents.js'
import { createListing, type Listing, type Paged } from './listing.js'
import type { DirectoryResponse, Requester, RequestOptions } from './requester.js'
import { type Correction, readSpelling } from './spelling.js'
import { meetsPolicy, type TrustPolicy } from './trust.js'

/** A search by words, filters or both; agents must match all filters. */
export interface SearchRequest {
  readonly query?: string
  readonly filters?: Readonly<Record<string, JsonValue>>
  /** Agents per page, 1 to 100. */
  readonly top?: number
  /** Agents to skip. */
  readonly skip?: number
  /** Return whole documents instead of summaries. */
  readonly includeMetadata?: boolean
  /** Search for the words as they are written, without correcting typos. */
  readonly exact?: boolean
  /** Say why each agent was found, as its `evidence`. */
  readonly explain?: boolean
  /** Default: by relevance, or without a query by registration. */
  readonly sort?: 'relevance' | 'name' | 'newest'
  /** Count all matches by these, such as `tags`; the page has the counts as `facets`. */
  readonly facets?: readonly string[]
  /** How many values of each facet are counted, 1 to 100; default: 20. */
  readonly facetLimit?: number
}

export interface SearchOptions extends RequestOptions, Pick<TrustPolicy, 'requireCertified' | 'minQuality'> {}

export interface SearchPage {
  readonly agents: readonly AgentSummary[]
  /** Number of matches on all pages. */
  readonly total?: number
  /** Pass it to `invoke` or `feedback` if you choose one of the agents: the directory learns from it. */
  readonly searchId?: string
  readonly warnings: readonly string[]
  /** Words of the query that were taken for typos, and what was searched for instead. */
  readonly corrected: readonly Correction[]
  /** If no word of the query is known: similar words that agents contain. */
  readonly suggestions: readonly string[]
  /** The most frequent values of each facet that was requested, by its name. */
  readonly facets: Readonly<Record<string, readonly FacetValue[]>>
}

/** A value, and how many agents a filter for it would find. Publishers write most values: pass them to `toDisplayText`. */
export interface FacetValue {
  readonly value: string
  readonly count: number
}

/** Searches (AIDIP §4.3.1). Reads the arrays of revision 01 and the objects of revision 00 (C-01). */
export function search(
  request: Requester,
  what: string | SearchRequest,
  options: SearchOptions = {},
): Listing<SearchPage, AgentSummary> {
  const wanted: SearchRequest = typeof what === 'string' ? { query: what } : what
  const { requireCertified, minQuality, ...rest } = options
  const hasPolicy = requireCertified === true || minQuality !== undefined
  const body: JsonObject = {
    ...(wanted.query !== undefined && { query: wanted.query }),
    ...(wanted.filters && { filters: { ...wanted.filters } }),
    ...(wanted.top !== undefined && { top: wanted.top }),
    ...(wanted.skip !== undefined && { skip: wanted.skip }),
    ...(wanted.exact && { exact: true }),
    ...(wanted.explain && { explain: true }),
    ...(wanted.sort && { sort: wanted.sort }),
    ...(wanted.facets && { facets: [...wanted.facets] }),
    ...(wanted.facetLimit !== undefined && { facet_limit: wanted.facetLimit }),
    ...((wanted.includeMetadata || hasPolicy) && { include_metadata: true }),
  }
  const fetchPage = async (path: string, sent: JsonObject): Promise<Paged<SearchPage>> => {
    const response = await request({ ...rest, method: 'POST', path, body: sent, isRead: true })
    const listed = listIn(response.body, 'results', 'agents').map(readSummary)
    const total = totalOf(response)
    const searchId = response.headers.get('x-search-id')
    const next = nextPage(response, sent, listed.length, total)
    const page = {
      agents: hasPolicy ? listed.filter(({ document }) => meetsPolicy(document, options)) : listed,
      warnings: [...response.warnings, ...(isObject(response.body) ? asStrings(response.body.warnings) : [])],
      ...readSpelling(response),
      facets: readFacets(response.body),
      ...(total !== undefined && { total }),
      ...(searchId !== null && { searchId }),
    }
    return { page, next: next && (() => fetchPage(next.path, next.body)) }
  }
  return createListing(
    () => fetchPage('/agents/search', body),
    ({ agents }) => agents,
  )
}

function readFacets(body: JsonValue | undefined): SearchPage['facets'] {
  if (!isObject(body) || !isObject(body.facets)) return {}
  const entries = Object.entries(body.facets).map(([name, values]) => [
    name,
    asObjects(values).flatMap(({ value, count }) =>
      typeof value === 'string' && typeof count === 'number' ? [{ value, count }] : [],
    ),
  ])
  return Object.fromEntries(entries)
}

function totalOf({ headers, body }: DirectoryResponse): number | undefined {
  if (isObject(body) && typeof body.count === 'number') return body.count
  const text = headers.get('x-total-count')
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}

interface NextPage {
  readonly path: string
  readonly body: JsonObject
}

/** The next page: by the link in the response, else by `skip` if the directory states a total. */
function nextPage(
  response: DirectoryResponse,
  sent: JsonObject,
  listed: number,
  total: number | undefined,
): NextPage | undefined {
  // Stop at an empty page, because a directory might link to more of them forever.
  if (listed === 0) return undefined
  const link = nextLink(response)
  if (link !== undefined) return { path: link, body: sent }
  if (!isObject(response.body) || total === undefined) return undefined
  const skipped = [response.body.skip, sent.skip].find((skip) => typeof skip === 'number') ?? 0
  const skip = skipped + listed
  return skip < total ? { path: '/agents/search', body: { ...sent, skip } } : undefined
}

/** The absolute URL of the next page, from the member `next` or the header `Link: <…>; rel="next"`. */
export function nextLink({ headers, body, url }: DirectoryResponse): string | undefined {
  const target =
    isObject(body) && typeof body.next === 'string'
      ? body.next
      : /<([^>]*)>\s*;[^,]*\brel="?next\b/.exec(headers.get('link') ?? '')?.[1]
  return target !== undefined && URL.canParse(target, url) ? new URL(target, url).href : undefined
}
