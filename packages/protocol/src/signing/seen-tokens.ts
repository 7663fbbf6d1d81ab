/** Remembers tokens until they expire; a store shared by replicas can stand behind it. */
export interface SeenTokens {
  /**
   * False if the token is known already, or cannot be remembered.
   *
   * @param expiresAt milliseconds since 1970
   */
  add(token: string, expiresAt: number): boolean | Promise<boolean>
}

/** Tokens remembered at once; beyond them new ones are refused, because forgetting one would let it come again. */
const MAX_TOKENS = 100_000

/** Remembers in the memory of this process. */
export function createSeenTokens({ now, max = MAX_TOKENS }: { now: () => number; max?: number }): SeenTokens {
  const tokens = new Map<string, number>()
  let nextSweep = 0

  const sweep = (time: number): void => {
    for (const [token, expiresAt] of tokens) if (expiresAt <= time) tokens.delete(token)
    // A set full of live tokens is not walked for each new one.
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
