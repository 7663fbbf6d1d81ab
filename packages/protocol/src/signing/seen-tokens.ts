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

/** Keeps the tokens in memory. */
export function createSeenTokens({ now, max = MAX_TOKENS }: { now: () => number; max?: number }): SeenTokens {
  const tokens = new Map<string, number>()
  let nextSweep = 0

  const sweep = (time: number): void => {
    for (const [token, expiresAt] of tokens) if (expiresAt <= time) tokens.delete(token)
    // Avoids scanning a set of live tokens for every new one.
    nextSweep = time + 1000
  }

  return {
    add(token, expiresAt) {
      const time = now()
      if (tokens.size >= max && time >= nextSweep) sweep(time)
      const known = tokens.get(token)
      if ((known !== undefined && known > time) || tokens.size >= max) return false
      tokens.set(token, expiresAt)
      return true
    },
  }
}
