/** Detects replayed tokens. Replicas can implement it on a shared store. */
export interface SeenTokens {
  /**
   * Records a token until it expires; false if it was recorded before or cannot be recorded.
   *
   * @param expiresAt milliseconds since 1970
   */
  add(token: string, expiresAt: number): boolean | Promise<boolean>
}

/** Maximum number of live tokens. Beyond it new ones are rejected, because dropping one would allow its replay. */
const MAX_TOKENS = 100_000
/** Milliseconds between sweeps for expired tokens. */
const SWEEP_MS = 1000

/** Keeps the tokens in memory. */
export function createSeenTokens({ now, max = MAX_TOKENS }: { now: () => number; max?: number }): SeenTokens {
  const tokens = new Map<string, number>()
  let sweptAt = Number.NEGATIVE_INFINITY

  const sweep = (time: number): void => {
    for (const [token, expiresAt] of tokens) if (expiresAt <= time) tokens.delete(token)
    // Avoids scanning a set of live tokens for every new one.
    sweptAt = time
  }

  return {
    add(token, expiresAt) {
      const time = now()
      // The clock may have been set back since the last sweep.
      if (tokens.size >= max && Math.abs(time - sweptAt) >= SWEEP_MS) sweep(time)
      const known = tokens.get(token)
      if ((known !== undefined && known > time) || tokens.size >= max) return false
      tokens.set(token, expiresAt)
      return true
    },
  }
}
