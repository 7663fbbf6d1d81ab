/** A day; longer lifetimes are cut. */
const MAX_FRESH_MS = 86_400_000

/** How long a 404 is cached: by default, and at most. */
const ABSENT_MS = 30_000
const MAX_ABSENT_MS = 300_000

/**
 * Milliseconds for which a response is fresh (RFC 9111 §4.2), for a private cache; undefined if it must not be stored.
 * A response without a lifetime is stored and revalidated each time.
 */
export function freshnessOf(headers: Headers, now: number): number | undefined {
  const directives = readCacheControl(headers)
  if (directives.has('no-store') || headers.get('vary')?.trim() === '*') return undefined
  return Math.min(statedFreshness(headers, directives, now) ?? 0, MAX_FRESH_MS)
}

/** The same for a 404. */
export function absenceOf(headers: Headers, now: number): number | undefined {
  const directives = readCacheControl(headers)
  if (directives.has('no-store')) return undefined
  return Math.min(statedFreshness(headers, directives, now) ?? ABSENT_MS, MAX_ABSENT_MS)
}

function statedFreshness(headers: Headers, directives: Map<string, string>, now: number): number | undefined {
  if (directives.has('no-cache')) return 0
  const maxAge = directives.get('max-age')
  const expires = headers.get('expires')
  if (maxAge === undefined && expires === null) return undefined
  // An invalid age or date means stale.
  const lifetime = maxAge === undefined ? dateOf(expires) - (dateOf(headers.get('date')) || now) : secondsOf(maxAge)
  return Math.max(0, (lifetime || 0) - (secondsOf(headers.get('age') ?? '') || 0))
}

/** The directives in lower case; of duplicates, the first. */
function readCacheControl(headers: Headers): Map<string, string> {
  const directives = new Map<string, string>()
  for (const part of (headers.get('cache-control') ?? '').split(',')) {
    const [name = '', value = ''] = part.split('=')
    const key = name.trim().toLowerCase()
    if (key !== '' && !directives.has(key)) directives.set(key, value.trim().replace(/^"|"$/g, ''))
  }
  return directives
}

const secondsOf = (text: string): number => (/^\d{1,10}$/.test(text) ? Number(text) * 1000 : Number.NaN)

const dateOf = (text: string | null): number => Date.parse(text ?? '')
