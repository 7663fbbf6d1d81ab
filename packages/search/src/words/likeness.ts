/** Share of terms that two agents have in common, 0 to 1; 1 for copies. Takes what `WordIndex.termsOf` gives. */
export function likeness(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  const [fewer, more] = a.size < b.size ? [a, b] : [b, a]
  let common = 0
  for (const term of fewer) if (more.has(term)) common++
  const all = a.size + b.size - common
  return all === 0 ? 0 : common / all
}

/** The most alike that two agents can be whose terms are so many; tells most pairs apart without comparing them. */
export const possibleLikeness = (a: ReadonlySet<number>, b: ReadonlySet<number>): number =>
  Math.min(a.size, b.size) / Math.max(a.size, b.size, 1)
