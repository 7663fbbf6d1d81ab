/** Two tokens, which refill in a minute. */
export const BUCKET_CAPACITY = 2
export const BUCKET_REFILL_SECONDS = 60

/** Requests in chronological order: time, client, and the seconds to wait if it is rejected. */
export const TOKEN_BUCKET_VECTORS: readonly (readonly [seconds: number, key: string, wait: number | undefined])[] = [
  [0, 'ann', undefined],
  [0, 'ann', undefined],
  [0, 'ann', 30],
  [0, 'ben', undefined],
  [20, 'ann', 10],
  [29.5, 'ann', 1],
  [30, 'ann', undefined],
  [30, 'ann', 30],
  [600, 'ann', undefined],
  [600, 'ann', undefined],
  [600, 'ann', 30],
]
