import { invalid } from '../errors.js'

/** An idempotency key, once it is known to be one. */
export function readIdempotencyKey(key: string | null | undefined): string | undefined {
  if (key === null || key === undefined) return undefined
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw invalid([{ at: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }])
}
