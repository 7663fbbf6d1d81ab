import { invalid } from '../errors.js'

/** Safe in headers, logs, file names and URLs without escaping; UUIDs, ULIDs and trace ids fit. */
const REQUEST_ID = /^[\w.:-]{1,128}$/

/** Whether a value can serve as the id of a request (C-74). */
export const isRequestId = (value: unknown): value is string => typeof value === 'string' && REQUEST_ID.test(value)

/** The id that the client sent if it is well-formed, so that both sides can search for the same one; else a new id. */
export const toRequestId = (value: unknown, newId: () => string = () => crypto.randomUUID()): string =>
  isRequestId(value) ? value : newId()

/** An idempotency key, once it is known to be one. */
export function readIdempotencyKey(key: string | null | undefined): string | undefined {
  if (key === null || key === undefined) return undefined
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw invalid([{ at: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }])
}

/** Whether a Prefer header asks for a deferred response: 202 and a task (RFC 7240 §4.1, C-62). */
export const prefersAsync = (prefer: string | null | undefined): boolean =>
  /(^|,)\s*respond-async\s*(;|,|$)/i.test(prefer ?? '')

/**
 * The seconds of a Retry-After header, which has a number or a date (RFC 9110 §10.2.3); undefined if it has neither.
 *
 * @param now milliseconds since 1970
 */
export function readRetryAfter(header: string | null | undefined, now: () => number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now()) / 1000))
}

export interface Conditions {
  readonly ifNoneMatch: string | null | undefined
  readonly ifModifiedSince: string | null | undefined
}

/** Whether the client's copy is still current; an entity tag takes precedence over a date (RFC 9110 §13.2.2). */
export function isNotModified(
  { ifNoneMatch, ifModifiedSince }: Conditions,
  { tag, changedAt }: { readonly tag: string; readonly changedAt: number },
): boolean {
  if (ifNoneMatch !== null && ifNoneMatch !== undefined) return matchesTag(ifNoneMatch, tag)
  const since = Date.parse(ifModifiedSince ?? '')
  // HTTP dates have whole seconds.
  return !Number.isNaN(since) && Math.floor(changedAt / 1000) * 1000 <= since
}

/** Whether an If-None-Match header names the tag. Compares weakly, because caches may have weakened it. */
export const matchesTag = (ifNoneMatch: string | null | undefined, tag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((item) => item.trim() === '*' || opaque(item) === opaque(tag))

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')
