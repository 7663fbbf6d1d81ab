import { DirectoryError } from './errors.js'

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject

/** A JSON object. */
export interface JsonObject {
  [member: string]: JsonValue
}

/** Deeper documents are rejected: no description of an agent needs more, and recursion stays bounded. */
export const MAX_JSON_DEPTH = 64

/** Wider objects are rejected: members cost more than any other values, and 100,000 of them block for 0.2 s. */
export const MAX_JSON_MEMBERS = 50_000

/** Limits of a JSON text besides its length. */
export interface JsonLimits {
  /**
   * Most values: objects, arrays, strings, numbers, `true`, `false` and `null`. In memory, a value takes many times the
   * bytes of its text. Default: no limit.
   */
  readonly maxValues?: number
  /** Most nesting; default: `MAX_JSON_DEPTH`. More for a message that contains documents. */
  readonly maxDepth?: number
}

/** A JSON text with more values than allowed. It is not parsed to its end. */
export class TooManyValues extends DirectoryError {
  readonly maxValues: number

  constructor(maxValues: number) {
    super(
      'invalid_request',
      `the JSON has more than ${maxValues} values (objects, arrays, strings, numbers …), which is the limit: shorten its lists, or refer to large data by URL`,
    )
    this.maxValues = maxValues
  }
}

/**
 * Parses JSON more strictly than JSON.parse, because the value is stored, compared and passed on: duplicate members, a
 * member named `__proto__`, lone surrogates, nesting deeper than 64, objects with more than 50,000 members and numbers that overflow a double are rejected.
 * The error has the line and column and, for an unquoted version (C-24), says how to fix it.
 *
 * @throws {TooManyValues} if the text has more values than `maxValues`
 */
export function parseJson(
  text: string,
  { maxValues = Number.POSITIVE_INFINITY, maxDepth = MAX_JSON_DEPTH }: JsonLimits = {},
): JsonValue {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0
  let values = 0

  const fail = (message: string, where = at): never => {
    const lineStart = where === 0 ? 0 : text.lastIndexOf('\n', where - 1) + 1
    throw new DirectoryError(
      'invalid_request',
      `the body is not valid JSON: ${message} at line ${lineOf(text, where)}, column ${where - lineStart + 1}`,
    )
  }

  const skipSpace = (): void => {
    for (;;) {
      const c = text.charCodeAt(at)
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return
      at++
    }
  }

  /** Skips an escape, after checking it. */
  const skipEscape = (): void => {
    const c = text[at + 1]
    if (c === 'u') {
      for (let digit = at + 2; digit < at + 6; digit++)
        if (!isHexDigit(text.charCodeAt(digit))) fail('\\u must be followed by four hexadecimal digits')
      at += 6
    } else if (c !== undefined && ESCAPES.includes(c)) at += 2
    else fail('unknown escape in a string')
  }

  const string = (): string => {
    const start = at++
    // Most strings are plain up to their next quote, which is found without looking at each character here.
    const end = text.indexOf('"', at)
    const plain = end < 0 ? undefined : text.slice(at, end)
    if (plain !== undefined && !NOT_PLAIN.test(plain)) {
      at = end + 1
      if (!plain.isWellFormed()) fail('lone surrogate in a string', start)
      return plain
    }
    let isEscaped = false
    for (;;) {
      const c = text.charCodeAt(at)
      if (c === 0x22) break
      if (Number.isNaN(c)) fail('unterminated string', start)
      if (c < 0x20) fail('control character in a string (write it as an escape)')
      if (c === 0x5c) {
        isEscaped = true
        skipEscape()
      } else at++
    }
    at++
    // Joining the pieces between the escapes would take many times the memory of the text.
    const value: string = isEscaped ? JSON.parse(text.slice(start, at)) : text.slice(start + 1, at - 1)
    if (!value.isWellFormed()) fail('lone surrogate in a string', start)
    return value
  }

  const number = (): number => {
    NUMBER.lastIndex = at
    if (!NUMBER.test(text)) return fail('unexpected character')
    const start = at
    at = NUMBER.lastIndex
    // "1.2.3" without quotes: search backwards only if the number is not followed by a delimiter.
    if (/[.\w+-]/.test(text[at] ?? '') && /"version"\s*:\s*$/.test(text.slice(0, start))) {
      fail('a version is a string, not a number: quote it, as in "version": "1.2.3"', start)
    }
    const value = Number(text.slice(start, at))
    if (!Number.isFinite(value)) fail('number too large for a double', start)
    return value
  }

  const word = (expected: string, value: null | boolean): null | boolean => {
    if (!text.startsWith(expected, at)) fail('unexpected word')
    at += expected.length
    return value
  }

  /** Skips the closing bracket. */
  const closed = <T>(result: T): T => {
    at++
    return result
  }

  const object = (depth: number): JsonObject => {
    const result: JsonObject = {}
    at++
    skipSpace()
    if (text[at] === '}') return closed(result)
    for (let members = 1; ; members++) {
      if (members > MAX_JSON_MEMBERS) fail(TOO_WIDE)
      if (text[at] !== '"') fail('expected a member name in double quotes')
      const start = at
      const name = string()
      if (name === '__proto__') fail('a member must not be named __proto__', start)
      if (Object.hasOwn(result, name)) fail(`duplicate member ${JSON.stringify(name)}`, start)
      skipSpace()
      if (text[at] !== ':') fail('expected ":" after a member name')
      at++
      result[name] = value(depth)
      if (text[at] === ',') {
        at++
        skipSpace()
      } else if (text[at] === '}') return closed(result)
      else fail('expected "," or "}"')
    }
  }

  const array = (depth: number): JsonValue[] => {
    at++
    skipSpace()
    if (text[at] === ']') return closed([])
    const items: JsonValue[] = []
    for (;;) {
      items.push(value(depth))
      if (text[at] === ',') at++
      // A growing array reserves room for more items, up to 17 times what a small one needs; the copy has none.
      else if (text[at] === ']') return closed(items.slice())
      else fail('expected "," or "]"')
    }
  }

  /** One value with the white space around it. */
  const value = (depth: number): JsonValue => {
    if (++values > maxValues) throw new TooManyValues(maxValues)
    skipSpace()
    let result: JsonValue
    switch (text[at]) {
      case '{':
        if (depth > maxDepth) fail(TOO_DEEP)
        result = object(depth + 1)
        break
      case '[':
        if (depth > maxDepth) fail(TOO_DEEP)
        result = array(depth + 1)
        break
      case '"':
        result = string()
        break
      case 't':
        result = word('true', true)
        break
      case 'f':
        result = word('false', false)
        break
      case 'n':
        result = word('null', null)
        break
      case undefined:
        result = fail('unexpected end of the text')
        break
      default:
        result = number()
    }
    skipSpace()
    return result
  }

  const result = value(1)
  if (at < text.length) fail('unexpected text after the value')
  return result
}

const TOO_DEEP = `nesting is deeper than ${MAX_JSON_DEPTH}`
const TOO_WIDE = `an object has more than ${MAX_JSON_MEMBERS} members: use an array`
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
/** A backslash, or a control character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const NOT_PLAIN = /[\\\u0000-\u001f]/
/** Characters that may follow a backslash, besides `u`. */
const ESCAPES = '"\\/bfnrt'

const isHexDigit = (c: number): boolean =>
  (c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66)

/** Number of the line that a position is in, from 1. */
function lineOf(text: string, where: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < where; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** Number of values in a JSON value, itself included. */
export function countValues(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1
  const inner = Array.isArray(value) ? value : Object.values(value)
  return inner.reduce<number>((sum, item) => sum + countValues(item), 1)
}

/** Deep equality of JSON values, whatever the order of members. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]))
  )
}

/** Whether a value is a JSON object: not an array, not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is a string, else `undefined`. */
export function asString(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The objects in an array; empty if the value is not an array. */
export function asObjects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The strings in an array; empty if the value is not an array. */
export function asStrings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** Escapes a name as a reference token of a JSON pointer (RFC 6901). */
export const pointerToken = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
