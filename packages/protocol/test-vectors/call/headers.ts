/** Prefer headers, and whether they ask for a deferred response (RFC 7240). */
export const PREFER_VECTORS: readonly (readonly [prefer: string, isAsync: boolean])[] = [
  ['respond-async', true],
  ['Respond-Async', true],
  ['respond-async, wait=10', true],
  ['wait=10 , respond-async', true],
  ['respond-async; reason="long"', true],
  ['wait=10', false],
  ['x-respond-async', false],
  ['respond-asynchronously', false],
  ['return=representation; respond-async', false],
]

/** Idempotency-Key headers, and whether they are valid. */
export const IDEMPOTENCY_KEY_VECTORS: readonly (readonly [key: string, isValid: boolean])[] = [
  ['k1', true],
  ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', true],
  ['!~', true],
  ['x'.repeat(255), true],
  ['x'.repeat(256), false],
  ['a b', false],
  ['a\tb', false],
  ['é', false],
]
