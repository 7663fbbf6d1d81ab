/**
 * A seeded source of random choices: the same seed gives the same choices.
 * @param {number} seed
 */
export function createRandom(seed) {
  let state = seed >>> 0
  /** From 0 to 1 (mulberry32). */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit) => Math.floor(next() * limit)
  const pick = (items) => items[below(items.length)]
  return {
    below,
    pick,
    chance: (share) => next() < share,
    times: (count, make) => Array.from({ length: count }, (_, i) => make(i)),
    /** Calls one of several alternatives, `[weight, make]`. */
    weighted(alternatives) {
      let left = next() * alternatives.reduce((sum, [weight]) => sum + weight, 0)
      const found = alternatives.find(([weight]) => {
        left -= weight
        return left < 0
      })
      return (found ?? alternatives[0])[1]()
    },
  }
}

/** A seed for item `n` of a run, so that each item can be generated alone. */
export const seedOf = (seed, n) => Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(n + 1, 0xc2b2ae35)
