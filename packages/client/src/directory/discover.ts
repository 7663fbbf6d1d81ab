import type { DiscoveryRequest } from '@switchboard/protocol'
import { asString, asStrings, isObject, type JsonObject } from '@switchboard/protocol/json'
import { ClientError } from '../errors.js'
import { cacheSuccess } from './cache-success.js'
import { type Candidate, listIn, readCandidate } from './documents.js'
import { createListing, type Listing } from './listing.js'
import type { Requester, RequestOptions } from './requester.js'
import { type Correction, readSpelling } from './spelling.js'

export interface DiscoverOptions extends RequestOptions {
  /** Fail if the directory does not support a hard filter, instead of listing it in `unsupportedFilters` (C-50). */
  readonly strict?: boolean
}

/** The response to a discovery request (PROF §6). */
export interface Discovery {
  readonly candidates: readonly Candidate[]
  readonly requestId?: string
  /** Pass it to `invoke` or `feedback` if you choose one of the candidates: the directory learns from it. */
  readonly searchId?: string
  readonly generatedAt?: string
  readonly appliedFilters: JsonObject
  readonly unsupportedFilters: readonly string[]
  readonly warnings: readonly string[]
  /** Words of the query that were taken for typos, and what was searched for instead. */
  readonly corrected: readonly Correction[]
  /** If no word of the query is known: similar words that agents contain. */
  readonly suggestions: readonly string[]
}

/** Finds candidates for a task, with evidence if the request asks for it. */
export function discover(
  request: Requester,
  findLevel: (options: RequestOptions) => Promise<string | undefined>,
  what: string | DiscoveryRequest,
  { strict = false, ...options }: DiscoverOptions = {},
): Listing<Discovery, Candidate> {
  const query: JsonObject = typeof what === 'string' ? { query: what } : { ...what }
  const headers = strict ? { prefer: 'handling=strict' } : {}
  const fetchCandidates = async (): Promise<Discovery> => {
    if ((await findLevel(options)) === 'D0') {
      throw new ClientError('not_found', 'the service is of level D0, which does not support queries: use get(id)')
    }
    const sent = { ...options, method: 'POST', path: '/discover', body: query, headers, isRead: true }
    const response = await request(sent)
    const { body, warnings } = response
    const found = isObject(body) ? body : {}
    const requestId = asString(found.request_id)
    const searchId = asString(found.search_id)
    const generatedAt = asString(found.generated_at)
    return {
      candidates: listIn(found, 'candidates').map(readCandidate),
      ...(requestId !== undefined && { requestId }),
      ...(searchId !== undefined && { searchId }),
      ...(generatedAt !== undefined && { generatedAt }),
      appliedFilters: isObject(found.applied_filters) ? found.applied_filters : {},
      unsupportedFilters: asStrings(found.unsupported_filters),
      warnings: [...warnings, ...asStrings(found.warnings)],
      ...readSpelling(response),
    }
  }
  return createListing(
    async () => ({ page: await fetchCandidates(), next: undefined }),
    ({ candidates }) => candidates,
  )
}

/**
 * Reads the conformance level of a service, once. A service without a description is assumed to support queries
 * (PROF §3.1).
 */
export const createLevelFinder = (request: Requester): ((options: RequestOptions) => Promise<string | undefined>) =>
  cacheSuccess(async (options: RequestOptions) => {
    try {
      return asString((await describeService(request, options)).conformance_level)
    } catch (error) {
      if (error instanceof ClientError && (error.status === 404 || error.status === 405)) return undefined
      throw error
    }
  })

/** The service's description of itself (PROF §18): level, limits and supported constraints. */
export async function describeService(request: Requester, options: RequestOptions): Promise<JsonObject> {
  const { body } = await request({ ...options, method: 'GET', path: '/discover' })
  return isObject(body) ? body : {}
}
