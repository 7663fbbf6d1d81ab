import { RE2JS } from 're2js'
import type { CompiledPattern } from './check/assertions.js'

/** Longer than any pattern that people write. */
const MAX_LENGTH = 5000
/** Counted repetition is unrolled before it is compiled; a larger program could take seconds. */
const MAX_UNROLLED = 100_000

const NAMED_BACK_REFERENCE = /(?<!\\)(?:\\\\)*\\k</

/**
 * Compiles a pattern with RE2, which matches in time linear in the length of the text. RE2 has neither lookaround nor
 * back-references, the features that can take exponential time. `undefined` if RE2 does not support the pattern.
 */
export function compileLinearPattern(pattern: string): CompiledPattern | undefined {
  if (pattern.length > MAX_LENGTH || pattern.length * largestCount(pattern) > MAX_UNROLLED) return undefined
  // RE2 would match the name as literal text.
  if (NAMED_BACK_REFERENCE.test(pattern)) return undefined
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(withEcmaScriptClasses(pattern)))
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

/** `\s` in ECMAScript; in RE2 it is ASCII only and lacks the vertical tab. */
const SPACES = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const NOT_SPACES =
  '\\x00-\\x08\\x0e-\\x1f!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}'

/** Long names of general categories, which ECMAScript knows and RE2 does not. */
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  (
    'Letter L,Cased_Letter LC,Uppercase_Letter Lu,Lowercase_Letter Ll,Titlecase_Letter Lt,Modifier_Letter Lm,' +
    'Other_Letter Lo,Mark M,Combining_Mark M,Nonspacing_Mark Mn,Spacing_Mark Mc,Enclosing_Mark Me,Number N,' +
    'Decimal_Number Nd,digit Nd,Letter_Number Nl,Other_Number No,Punctuation P,punct P,Connector_Punctuation Pc,' +
    'Dash_Punctuation Pd,Open_Punctuation Ps,Close_Punctuation Pe,Initial_Punctuation Pi,Final_Punctuation Pf,' +
    'Other_Punctuation Po,Symbol S,Math_Symbol Sm,Currency_Symbol Sc,Modifier_Symbol Sk,Other_Symbol So,Separator Z,' +
    'Space_Separator Zs,Line_Separator Zl,Paragraph_Separator Zp,Other C,Control Cc,cntrl Cc,Format Cf,Surrogate Cs,' +
    'Private_Use Co,Unassigned Cn'
  )
    .split(',')
    .map((pair): [string, string] => [pair.slice(0, pair.indexOf(' ')), pair.slice(pair.indexOf(' ') + 1)]),
)

/** Rewrites the character classes of ECMAScript that RE2 reads differently or not at all. */
function withEcmaScriptClasses(pattern: string): string {
  let isInClass = false
  return pattern.replace(/\\([pP])\{(?:\w+=)?(\w+)\}|\\[\s\S]|[[\]]/g, (token, sign?: string, property?: string) => {
    if (sign !== undefined && property !== undefined) return `\\${sign}{${CATEGORIES.get(property) ?? property}}`
    if (token === '[') isInClass = true
    if (token === ']') isInClass = false
    if (token === '\\s') return isInClass ? SPACES : `[${SPACES}]`
    if (token === '\\S') return isInClass ? NOT_SPACES : `[^${SPACES}]`
    return token
  })
}
