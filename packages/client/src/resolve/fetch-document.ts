import { decodeUtf8, isJsonType, mediaTypeOf, readRetryAfter } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import type { Deadline } from '../transports/deadline.js'
import { readBody } from '../transports/read-body.js'
import { type AddressPolicy, checkAddress } from './address-policy.js'
import type { CachedDocument, DocumentCache } from './document-cache.js'
import { absenceOf, freshnessOf } from './freshness.js'

/** A document; `url` is where it was found, after redirects. */
export interface FoundDocument {
  readonly url: string
  readonly text: string
}

/** No usable document; `reason` is missing for a plain 404. */
export interface NoDocument {
  readonly text: undefined
  readonly reason?: string
}

export interface DocumentRequest {
  readonly deadline: Deadline
  readonly maxBytes: number
  readonly policy: AddressPolicy
}

export interface FetcherDeps {
  readonly fetch: typeof fetch
  readonly cache: DocumentCache
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Whether to follow a redirect to another origin; default: no. */
  readonly mayRedirect?: (from: URL, to: URL) => boolean
}

export type FetchDocument = (url: string, request: DocumentRequest) => Promise<FoundDocument | NoDocument>

const MAX_REDIRECTS = 3

const ACCEPT = 'application/json, application/ld+json;q=0.9, application/agent-card+json;q=0.9'

/**
 * Whether to set the headers of conditional requests. Browsers revalidate their own cache, and there the headers would
 * cause a CORS preflight, which most hosts reject.
 */
const SETS_CONDITIONS = !('document' in globalThis || 'WorkerGlobalScope' in globalThis)

/**
 * Fetches JSON texts from untrusted hosts: addresses are checked, redirects stay on the origin, no cookies are sent,
 * sizes are limited, and HTTP's caching rules apply. A 4xx means that there is no document. A 5xx or 429 throws, because
 * the document may exist.
 */
export function createDocumentFetcher({ fetch, cache, now, mayRedirect }: FetcherDeps): FetchDocument {
  const send = async (
    url: URL,
    known: CachedDocument | undefined,
    { deadline }: DocumentRequest,
    redirect: 'manual' | 'follow',
  ): Promise<Response> => {
    const condition = SETS_CONDITIONS && known?.text !== undefined ? conditionOf(known) : {}
    const headers = { accept: ACCEPT, ...condition }
    deadline.check()
    try {
      return await deadline.race(fetch(url.href, { headers, redirect, credentials: 'omit', signal: deadline.signal }))
    } catch (cause) {
      // If the deadline has passed, throw its error instead of the one of fetch.
      deadline.check()
      throw new ClientError('unreachable', `${url.href} cannot be reached`, { url: url.href, cause })
    }
  }

  const follow = async (start: URL, known: CachedDocument | undefined, request: DocumentRequest) => {
    let url = start
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await send(url, known, request, 'manual')
      // Browsers hide the target of a redirect, so follow it and check where it ended.
      if (response.type === 'opaqueredirect') return arrived(url, await send(url, known, request, 'follow'))
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
      if (location === null) return { url, response }
      await response.body?.cancel()
      const next = URL.canParse(location, url.href) ? new URL(location, url) : url
      if (!isAllowedRedirect(url, next)) return { url: next, response: undefined }
      url = checkAddress(next.href, request.policy)
    }
    throw new ClientError('bad_redirect', `${start.href} redirects more than ${MAX_REDIRECTS} times`, {
      url: start.href,
    })
  }

  const arrived = (from: URL, response: Response) => {
    const url = URL.canParse(response.url) ? new URL(response.url) : from
    return isAllowedRedirect(from, url) ? { url, response } : { url, response: undefined }
  }

  const isAllowedRedirect = (from: URL, to: URL): boolean =>
    from.origin === to.origin || (mayRedirect?.(from, to) ?? false)

  return async (text, request) => {
    const requested = checkAddress(text, request.policy)
    const known = cache.get(requested.href)
    if (known && isFresh(known, now())) return toResult(requested.href, known)

    const { url, response } = await follow(requested, known, request)
    if (!response) return { text: undefined, reason: `${requested.href} redirects to another origin, ${url.origin}` }
    const keep = (document: Omit<CachedDocument, 'freshUntil' | 'storedAt'>, fresh: number | undefined): void => {
      // A redirected document is not cached, because the redirect may change before its target does.
      if (fresh === undefined || url.href !== requested.href) cache.delete(requested.href)
      else cache.set(requested.href, { ...document, storedAt: now(), freshUntil: now() + fresh })
    }

    const { status, headers } = response
    if (status === 304 && known) {
      keep({ ...known, ...validatorsOf(headers) }, freshnessOf(headers, now()))
      return toResult(requested.href, known)
    }
    if (!response.ok || !mayBeJson(headers)) {
      await response.body?.cancel()
      if (status >= 500 || status === 429) throw unavailable(url.href, response, now)
      if (status === 404 || status === 410) keep({ text: undefined }, absenceOf(headers, now()))
      return absent(url.href, response)
    }
    const body = await readText(response, url.href, request)
    keep({ text: body, ...validatorsOf(headers) }, freshnessOf(headers, now()))
    return { url: url.href, text: body }
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

const isFresh = ({ storedAt = Number.NEGATIVE_INFINITY, freshUntil }: CachedDocument, now: number): boolean =>
  storedAt <= now && now < freshUntil

const toResult = (url: string, { text }: CachedDocument): FoundDocument | NoDocument =>
  text === undefined ? { text } : { url, text }

function conditionOf({ etag, lastModified }: CachedDocument): Record<string, string> {
  if (etag !== undefined) return { 'if-none-match': etag }
  return lastModified === undefined ? {} : { 'if-modified-since': lastModified }
}

function validatorsOf(headers: Headers): Pick<CachedDocument, 'etag' | 'lastModified'> {
  const [etag, lastModified] = [headers.get('etag'), headers.get('last-modified')]
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) }
}

/** Media types that static hosts use for JSON. HTML is not one: many sites send it for paths that do not exist. */
const UNSPECIFIC_TYPES = new Set(['', 'text/plain', 'text/json', 'application/octet-stream'])

function mayBeJson(headers: Headers): boolean {
  const type = mediaTypeOf(headers.get('content-type'))
  return UNSPECIFIC_TYPES.has(type) || isJsonType(type)
}

function absent(url: string, { status, ok, headers }: Response): NoDocument {
  if (status === 404 || status === 410) return { text: undefined }
  const what = ok ? `responded with ${headers.get('content-type')} instead of JSON` : `responded with ${status}`
  return { text: undefined, reason: `${url} ${what}` }
}

function unavailable(url: string, { status, headers }: Response, now: () => number): ClientError {
  const retryAfter = readRetryAfter(headers.get('retry-after'), now)
  return new ClientError('unavailable', `${url} responded with ${status}: try again later`, {
    url,
    status,
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

async function readText({ body }: Response, url: string, { deadline, maxBytes }: DocumentRequest): Promise<string> {
  const text = decodeUtf8(await readBody(body, maxBytes, deadline))
  if (text === undefined) throw new ClientError('bad_document', `${url} is not valid UTF-8`, { url })
  return text
}
