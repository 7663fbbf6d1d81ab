import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { type AgentSummary, listIn, readSummary } from './documents.js'
import { createListing, type Listing, type Paged } from './listing.js'
import type { DirectoryAnswer, Requester, RequestOptions } from './requester.js'
import { isGoodEnough, type TrustPolicy } from './trust.js'

/** A search by words, by filters, or both; all filters bind. */
export interface SearchRequest {
  readonly query?: string
  readonly filters?: Readonly<Record<string, JsonValue>>
  /** Agents on a page, 1 to 100. */
  readonly top?: number
  /** How many to pass over. */
  readonly skip?: number
  /** Whole documents instead of summaries. */
  readonly includeMetadata?: boolean
}

export interface SearchOptions extends RequestOptions, Pick<TrustPolicy, 'requireCertified' | 'minQuality'> {}

export interface SearchPage {
  readonly agents: readonly AgentSummary[]
  /** Agents that fit, on all pages. */
  readonly total?: number
  readonly warnings: readonly string[]
}

/** Searches (AIDIP §4.3.1); bare arrays of revision 01 and objects of revision 00 are read alike (C-01). */
export function search(
  request: Requester,
  what: string | SearchRequest,
  options: SearchOptions = {},
): Listing<SearchPage, AgentSummary> {
  const wanted: SearchRequest = typeof what === 'string' ? { query: what } : what
  const { requireCertified, minQuality, ...rest } = options
  const wantsFacts = requireCertified === true || minQuality !== undefined
  const body: JsonObject = {
    ...(wanted.query !== undefined && { query: wanted.query }),
    ...(wanted.filters && { filters: { ...wanted.filters } }),
    ...(wanted.top !== undefined && { top: wanted.top }),
    ...(wanted.skip !== undefined && { skip: wanted.skip }),
    ...((wanted.includeMetadata || wantsFacts) && { include_metadata: true }),
  }
  const fetchPage = async (path: string, sent: JsonObject): Promise<Paged<SearchPage>> => {
    const answer = await request({ ...rest, method: 'POST', path, body: sent, isRepeatable: true })
    const listed = listIn(answer.body, 'results', 'agents').map(readSummary)
    const total = totalOf(answer)
    const next = nextOf(answer, sent, listed.length, total)
    const page = {
      agents: wantsFacts ? listed.filter(({ document }) => isGoodEnough(document, options)) : listed,
      warnings: [...answer.warnings, ...warningsIn(answer.body)],
      ...(total !== undefined && { total }),
    }
    return { page, next: next && (() => fetchPage(next.path, next.body)) }
  }
  return createListing(
    () => fetchPage('/agents/search', body),
    ({ agents }) => agents,
  )
}

function totalOf({ headers, body }: DirectoryAnswer): number | undefined {
  if (isObject(body) && typeof body.count === 'number') return body.count
  const text = headers.get('x-total-count')
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}

const warningsIn = (body: JsonValue | undefined): string[] =>
  isObject(body) && Array.isArray(body.warnings) ? body.warnings.filter((item) => typeof item === 'string') : []

interface NextPage {
  readonly path: string
  readonly body: JsonObject
}

/** The next page: by the link that the answer has; a registry that only counts is asked with `skip`. */
function nextOf(
  answer: DirectoryAnswer,
  sent: JsonObject,
  listed: number,
  total: number | undefined,
): NextPage | undefined {
  // A directory that hands out links for ever and nothing with them is not followed.
  if (listed === 0) return undefined
  const link = linkOf(answer)
  if (link !== undefined) return { path: link, body: sent }
  if (!isObject(answer.body) || total === undefined) return undefined
  const passed = [answer.body.skip, sent.skip].find((skip) => typeof skip === 'number') ?? 0
  const skip = passed + listed
  return skip < total ? { path: '/agents/search', body: { ...sent, skip } } : undefined
}

/** An absolute URL of `Link: <…>; rel="next"`, or of the member `next`. */
export function linkOf({ headers, body, url }: DirectoryAnswer): string | undefined {
  const target =
    isObject(body) && typeof body.next === 'string'
      ? body.next
      : /<([^>]*)>\s*;[^,]*\brel="?next\b/.exec(headers.get('link') ?? '')?.[1]
  return target !== undefined && URL.canParse(target, url) ? new URL(target, url).href : undefined
}
