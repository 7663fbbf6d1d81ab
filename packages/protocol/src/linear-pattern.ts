import { RE2JS } from 're2js'

/** A pattern that is matched in time linear in the text, whatever the text. */
export interface LinearPattern {
  /** Instructions of its program: what one character of text can cost. */
  readonly size: number
  test(text: string): boolean
}

/** No pattern that people write is longer. */
const MAX_LENGTH = 5000
/** Counted repetition is unrolled before it is compiled; a larger program could take seconds. */
const MAX_UNROLLED = 100_000

const NAMED_BACK_REFERENCE = /(?<!\\)(?:\\\\)*\\k</

/** RE2 knows neither lookaround nor back-references, the two that need exponential time; undefined if it refuses. */
export function compileLinearPattern(pattern: string): LinearPattern | undefined {
  if (pattern.length > MAX_LENGTH || pattern.length * largestCount(pattern) > MAX_UNROLLED) return undefined
  // RE2 would take the name for literal text.
  if (NAMED_BACK_REFERENCE.test(pattern)) return undefined
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return { size: compiled.programSize(), test: (text) => compiled.test(text) }
  } catch {
    return undefined
  }
}

function largestCount(pattern: string): number {
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].flatMap(([, from, to]) => [
    Number(from),
    Number(to ?? 0),
  ])
  return Math.max(1, ...counts)
}
