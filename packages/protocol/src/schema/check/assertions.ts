import { isObject, type JsonObject, type JsonValue, sameJson } from '../../json.js'
import { compileLinearPattern } from '../linear-pattern.js'
import { FORMATS } from './formats.js'
import type { Check, Run } from './run.js'

/** A keyword of JSON Schema made ready; undefined if what it is given says nothing. */
type Keyword = (given: JsonValue, schema: JsonObject) => Check | undefined

/** A pattern is far cheaper than its size says unless it is made to be costly: four instructions count as a step. */
const PATTERN_STEPS = 1 / 4

/** Keywords that say something of a value themselves. */
export const ASSERTIONS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  [
    'type',
    (given, { nullable }) => {
      // OpenAPI says "or null" by `nullable`.
      const types = [given, ...(nullable === true ? ['null'] : [])].flat().filter((type) => typeof type === 'string')
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
  ['maximum', numeric((value, limit) => value <= limit, 'must be at most')],
  ['exclusiveMaximum', numeric((value, limit) => value < limit, 'must be less than')],
  ['minimum', numeric((value, limit) => value >= limit, 'must be at least')],
  ['exclusiveMinimum', numeric((value, limit) => value > limit, 'must be more than')],
  [
    'maxLength',
    textual(
      (text, limit) => text.length <= limit || lengthOf(text) <= limit,
      (n) => `has more than ${n} characters`,
    ),
  ],
  [
    'minLength',
    textual(
      (text, limit) => text.length >= limit && lengthOf(text) >= limit,
      (n) => atLeast(n, 'character'),
    ),
  ],
  [
    'pattern',
    (given) => {
      const pattern = compilePattern(given)
      return (
        pattern &&
        ((value, run) =>
          typeof value !== 'string' || pattern(value, run) || run.fail(`must match the pattern ${given}`))
      )
    },
  ],
  [
    'format',
    (given) => {
      const format = typeof given === 'string' ? FORMATS.get(given) : undefined
      return (
        format &&
        ((value, run) => {
          run.spend(typeof value === 'string' ? value.length / 8 : 1)
          return format(value) || run.fail(`must be a ${given}`)
        })
      )
    },
  ],
  [
    'maxItems',
    listed(
      (size, limit) => size <= limit,
      (n) => `has more than ${n} items`,
    ),
  ],
  [
    'minItems',
    listed(
      (size, limit) => size >= limit,
      (n) => atLeast(n, 'item'),
    ),
  ],
  [
    'uniqueItems',
    (given) =>
      given === true
        ? (value, run) => !Array.isArray(value) || areUnique(value, run) || run.fail('has the same item twice')
        : undefined,
  ],
  [
    'maxProperties',
    membered(
      (size, limit) => size <= limit,
      (n) => `has more than ${n} members`,
    ),
  ],
  [
    'minProperties',
    membered(
      (size, limit) => size >= limit,
      (n) => atLeast(n, 'member'),
    ),
  ],
  ['required', (given) => requireMembers(asNames(given))],
  ['dependentRequired', (given) => dependentMembers(given)],
])

/** A pattern as a test that counts its work; undefined if it is none. */
export function compilePattern(given: JsonValue): ((text: string, run: Run) => boolean) | undefined {
  const pattern = typeof given === 'string' ? compileLinearPattern(given) : undefined
  return (
    pattern &&
    ((text, run) => {
      run.spend(1 + text.length * pattern.size * PATTERN_STEPS)
      return pattern.test(text)
    })
  )
}

/** Members that must be there if another is; older drafts write them in `dependencies`. */
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
    const missing = names.filter((name) => !Object.hasOwn(value, name))
    for (const name of missing) run.fail('is required', name)
    return missing.length === 0
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

const atLeast = (limit: number, what: string): string =>
  limit === 1 ? 'must not be empty' : `must have at least ${limit} ${what}s`

/** Characters, not UTF-16 units. */
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

/** By canonical texts, because comparing every pair takes quadratic time. */
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

/** One text for equal values, whatever the order of their members. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{${Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`)
    .join()}}`
}

/** Values inside a value. */
function sizeOf(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, part) => sum + sizeOf(part), 1)
}
