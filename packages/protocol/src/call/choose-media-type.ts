import Negotiator from 'negotiator'

/** Ranges of one Accept header that are considered. */
const MAX_RANGES = 50

/** A parameter of a media range other than its weight `q`. */
const PARAMETER = /;\s*(?!q\s*=)[^\s;,="]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^;,"]*)/gi

/**
 * The offered media type that suits an Accept header best; undefined if it accepts none of them (RFC 9110 §12.5.1).
 * Without a header every type is accepted and the first one is chosen.
 */
export function chooseMediaType(accept: string | null | undefined, offered: readonly string[]): string | undefined {
  if (accept === null || accept === undefined || accept.trim() === '') return offered[0]
  // We offer types without parameters; `application/json; charset=utf-8` must accept them all the same.
  const ranges = accept.replace(PARAMETER, '').split(',', MAX_RANGES)
  return new Negotiator({ headers: { accept: ranges.join(',') } }).mediaType(offered)
}
