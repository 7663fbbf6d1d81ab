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
