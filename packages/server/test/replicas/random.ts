/** Random numbers that are the same for the same seed. */
export interface Random {
  /** From 0 to below 1. */
  (): number
  /** From `from` to below `to`. */
  between(from: number, to: number): number
  pick<T>(list: readonly T[]): T
}

/** The generator mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return Object.assign(next, {
    between: (from: number, to: number): number => from + next() * (to - from),
    pick<T>(list: readonly T[]): T {
      const chosen = list[Math.floor(next() * list.length)]
      if (chosen === undefined) throw new Error('nothing to choose from')
      return chosen
    },
  })
}
