import { isObject, type JsonObject, type JsonValue, sameJson } from '../../json.js'
import type { Format } from './formats.js'
import type { Check, Run } from './run.js'

/** Formats and patterns: they differ between publishers' schemas and our own. */
export interface CheckOptions {
  readonly formats: ReadonlyMap<string, Format>
  /** `undefined` for a pattern that is not supported: it is not checked. */
  compilePattern(pattern: string): CompiledPattern | undefined
}

export interface CompiledPattern {
  /** Upper bound of the work for one character of text, in instructions. */
  readonly size: number
  test(text: string): boolean
}

/** Compiles a keyword; `undefined` if its value restricts nothing. */
type Keyword = (given: JsonValue, schema: JsonObject, options: CheckOptions) => Check | undefined

/** Real patterns are far cheaper than their size suggests: four instructions count as one step. */
const PATTERN_STEPS = 1 / 4

const atMost = numeric((value, limit) => value <= limit, 'must be at most')
const below = numeric((value, limit) => value < limit, 'must be less than')
const atLeast = numeric((value, limit) => value >= limit, 'must be at least')
const above = numeric((value, limit) => value > limit, 'must be more than')

/** Keywords that restrict the value itself. */
export const ASSERTIONS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  [
    'type',
    (given) => {
      const types = [given].flat().filter((type) => typeof type === 'string')
      if (types.includes('any')) return undefined
      const message = `must be ${types.map(withArticle).join(' or ')}`
      const [only, another] = types
      if (only !== undefined && another === undefined) return (value, run) => isOfType(value, only) || run.fail(message)
      return (value, run) => types.some((type) => isOfType(value, type)) || run.fail(message)
    },
  ],
  [
    'enum',
    (given) => {
      const allowed = Array.isArray(given) ? given : []
      const size = sizeOf(given)
      const message = `must be one of ${allowed
        .slice(0, 20)
        .map((item) => JSON.stringify(item))
        .join(', ')}`
      return (value, run) => {
        run.spend(size)
        return allowed.some((item) => sameJson(item, value)) || run.fail(message)
      }
    },
  ],
  [
    'const',
    (given) => {
      const size = sizeOf(given)
      return (value, run) => {
        run.spend(size)
        return sameJson(given, value) || run.fail(`must be ${JSON.stringify(given)}`)
      }
    },
  ],
  ['multipleOf', numeric((value, limit) => isMultiple(value, limit), 'must be a multiple of')],
  ['maximum', (given, schema, options) => (schema.exclusiveMaximum === true ? below : atMost)(given, schema, options)],
  ['exclusiveMaximum', below],
  ['minimum', (given, schema, options) => (schema.exclusiveMinimum === true ? above : atLeast)(given, schema, options)],
  ['exclusiveMinimum', above],
  [
    'maxLength',
    textual(
      (text, limit) => text.length <= limit || lengthOf(text) <= limit,
      (n) => `must have at most ${n} characters`,
    ),
  ],
  [
    'minLength',
    textual(
      (text, limit) => text.length >= limit && lengthOf(text) >= limit,
      (n) => tooFew(n, 'character'),
    ),
  ],
  [
    'pattern',
    (given, _schema, options) => {
      const pattern = patternTest(given, options)
      return (
        pattern &&
        ((value, run) =>
          typeof value !== 'string' || pattern(value, run) || run.fail(`must match the pattern ${given}`))
      )
    },
  ],
  [
    'format',
    (given, _schema, { formats }) => {
      const format = typeof given === 'string' ? formats.get(given) : undefined
      return (
        format &&
        ((value, run) => {
          run.spend(typeof value === 'string' ? value.length / 8 : 1)
          return format.test(value) || run.fail(format.message)
        })
      )
    },
  ],
  [
    'maxItems',
    listed(
      (size, limit) => size <= limit,
      (n) => `must have at most ${n} items`,
    ),
  ],
  [
    'minItems',
    listed(
      (size, limit) => size >= limit,
      (n) => tooFew(n, 'item'),
    ),
  ],
  [
    'uniqueItems',
    (given) =>
      given === true
        ? (value, run) =>
            !Array.isArray(value) || areUnique(value, run) || run.fail('must not contain the same item twice')
        : undefined,
  ],
  [
    'maxProperties',
    membered(
      (size, limit) => size <= limit,
      (n) => `must have at most ${n} members`,
    ),
  ],
  [
    'minProperties',
    membered(
      (size, limit) => size >= limit,
      (n) => tooFew(n, 'member'),
    ),
  ],
  ['required', (given) => requireMembers(asNames(given))],
  ['dependentRequired', (given) => dependentMembers(given)],
])

/** A test that counts its work; `undefined` if the value is not a pattern. */
export function patternTest(
  given: JsonValue,
  { compilePattern }: CheckOptions,
): ((text: string, run: Run) => boolean) | undefined {
  const pattern = typeof given === 'string' ? compilePattern(given) : undefined
  return (
    pattern &&
    ((text, run) => {
      run.spend(1 + text.length * pattern.size * PATTERN_STEPS)
      return pattern.test(text)
    })
  )
}

/** Members that are required if another is present; older drafts have them in `dependencies`. */
export function dependentMembers(given: JsonValue): Check {
  const rules = Object.entries(isObject(given) ? given : {}).map(
    ([name, names]) => [name, requireMembers(asNames(names))] as const,
  )
  return (value, run, evaluated) => {
    run.spend(rules.length)
    if (!isObject(value)) return true
    return rules.filter(([name, check]) => Object.hasOwn(value, name) && !check(value, run, evaluated)).length === 0
  }
}

function requireMembers(names: string[]): Check {
  return (value, run) => {
    if (!isObject(value)) return true
    run.spend(names.length)
    let fits = true
    for (const name of names) if (!Object.hasOwn(value, name)) fits = run.fail('is required', name)
    return fits
  }
}

function numeric(holds: (value: number, limit: number) => boolean, words: string): Keyword {
  return (limit) => {
    if (typeof limit !== 'number') return undefined
    return (value, run) => typeof value !== 'number' || holds(value, limit) || run.fail(`${words} ${limit}`)
  }
}

function textual(holds: (text: string, limit: number) => boolean, words: (limit: number) => string): Keyword {
  return (limit) => {
    if (typeof limit !== 'number') return undefined
    return (value, run) => {
      if (typeof value !== 'string') return true
      run.spend(value.length / 8)
      return holds(value, limit) || run.fail(words(limit))
    }
  }
}

function listed(holds: (size: number, limit: number) => boolean, words: (limit: number) => string): Keyword {
  return (limit) => {
    if (typeof limit !== 'number') return undefined
    return (value, run) => !Array.isArray(value) || holds(value.length, limit) || run.fail(words(limit))
  }
}

function membered(holds: (size: number, limit: number) => boolean, words: (limit: number) => string): Keyword {
  return (limit) => {
    if (typeof limit !== 'number') return undefined
    return (value, run) => {
      if (!isObject(value)) return true
      const size = Object.keys(value).length
      run.spend(size)
      return holds(size, limit) || run.fail(words(limit))
    }
  }
}

const asNames = (given: JsonValue): string[] =>
  Array.isArray(given) ? given.filter((name) => typeof name === 'string') : []

const tooFew = (limit: number, what: string): string =>
  limit === 1 ? 'must not be empty' : `must have at least ${limit} ${what}s`

/** Length in characters, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

function isOfType(value: JsonValue, type: string): boolean {
  switch (type) {
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    case 'file': // sent as a URL or as base64 (AIDIP-01 §5.1)
      return typeof value === 'string'
    default:
      return typeof value === type
  }
}

/** Decimal fractions are not exact as doubles: 0.3 counts as a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  if (value % of === 0) return true
  const quotient = value / of
  return Number.isInteger(quotient) || Math.abs(quotient - Math.round(quotient)) < Number.EPSILON * Math.abs(quotient)
}

const withArticle = (type: string): string =>
  type === 'null' ? type : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`

/** Compares canonical texts, because comparing every pair would take quadratic time. */
function areUnique(items: JsonValue[], run: Run): boolean {
  const seen = new Set<string>()
  for (const item of items) {
    const text = canonical(item)
    run.spend(1 + text.length / 4)
    if (seen.has(text)) return false
    seen.add(text)
  }
  return true
}

/** The same text for equal values, whatever the order of their members. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{${Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`)
    .join()}}`
}

/** Number of values in a value, itself included. */
function sizeOf(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, part) => sum + sizeOf(part), 1)
}
