/** Milliseconds since 1970, for the dates of the vectors. */
export const RETRY_AFTER_NOW = Date.parse('2026-01-01T00:00:00Z')

/** Retry-After headers and their seconds; undefined: the header says nothing. */
export const RETRY_AFTER_VECTORS: readonly (readonly [header: string, seconds: number | undefined])[] = [
  ['0', 0],
  ['7', 7],
  ['120', 120],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
  ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
]
