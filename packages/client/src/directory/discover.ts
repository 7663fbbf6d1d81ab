import { asString, asStrings, type DiscoveryRequest, isObject, type JsonObject } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { type Candidate, listIn, readCandidate } from './documents.js'
import { createListing, type Listing } from './listing.js'
import type { Requester, RequestOptions } from './requester.js'

export interface DiscoverOptions extends RequestOptions {
  /** A hard filter that the directory does not support fails instead of being reported (C-50). */
  readonly strict?: boolean
}

/** The answer to a discovery request (PROF §6). */
export interface Discovery {
  readonly candidates: readonly Candidate[]
  readonly requestId?: string
  readonly generatedAt?: string
  readonly appliedFilters: JsonObject
  readonly unsupportedFilters: readonly string[]
  readonly warnings: readonly string[]
}

/** Finds agents for a task, with reasons where they are asked for. */
export function discover(
  request: Requester,
  levelOf: (options: RequestOptions) => Promise<string | undefined>,
  what: string | DiscoveryRequest,
  { strict = false, ...options }: DiscoverOptions = {},
): Listing<Discovery, Candidate> {
  const wanted: JsonObject = typeof what === 'string' ? { query: what } : { ...what }
  const headers = strict ? { prefer: 'handling=strict' } : {}
  const ask = async (): Promise<Discovery> => {
    if ((await levelOf(options)) === 'D0') {
      throw new ClientError('not_found', 'this service publishes metadata and answers no queries (level D0): use get')
    }
    const sent = { ...options, method: 'POST', path: '/discover', body: wanted, headers, isRepeatable: true }
    const { body, warnings } = await request(sent)
    const answer = isObject(body) ? body : {}
    const requestId = asString(answer.request_id)
    const generatedAt = asString(answer.generated_at)
    return {
      candidates: listIn(isObject(body) ? body : {}, 'candidates').map(readCandidate),
      ...(requestId !== undefined && { requestId }),
      ...(generatedAt !== undefined && { generatedAt }),
      appliedFilters: isObject(answer.applied_filters) ? answer.applied_filters : {},
      unsupportedFilters: asStrings(answer.unsupported_filters),
      warnings: [...warnings, ...asStrings(answer.warnings)],
    }
  }
  return createListing(
    async () => ({ page: await ask(), next: undefined }),
    ({ candidates }) => candidates,
  )
}

/** The level of a service, asked once; one that does not describe itself is taken to answer queries (PROF §3.1). */
export function createLevelFinder(request: Requester): (options: RequestOptions) => Promise<string | undefined> {
  let known: Promise<string | undefined> | undefined
  const ask = async (options: RequestOptions): Promise<string | undefined> => {
    try {
      return asString((await describeService(request, options)).conformance_level)
    } catch (error) {
      if (error instanceof ClientError && (error.status === 404 || error.status === 405)) return undefined
      throw error
    }
  }
  return (options) => {
    known ??= ask(options).catch((error: unknown) => {
      known = undefined
      throw error
    })
    return known
  }
}

/** What a service says of itself (PROF §18): its level, limits and supported constraints. */
export async function describeService(request: Requester, options: RequestOptions): Promise<JsonObject> {
  const { body } = await request({ ...options, method: 'GET', path: '/discover' })
  return isObject(body) ? body : {}
}
