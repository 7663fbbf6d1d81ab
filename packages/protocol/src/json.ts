import { DirectoryError } from './errors.js'

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject

/** A JSON object. */
export interface JsonObject {
  [member: string]: JsonValue
}

/** Deeper documents are rejected: no description of an agent needs more, and recursion stays bounded. */
export const MAX_JSON_DEPTH = 64

/**
 * Parses JSON more strictly than JSON.parse, because the value is stored, compared and passed on: duplicate members, a
 * member named `__proto__`, lone surrogates, nesting deeper than 64 and numbers that overflow a double are rejected.
 * The error has the line and column and, for an unquoted version (C-24), says how to fix it.
 */
export function parseJson(text: string): JsonValue {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0

  const fail = (message: string, where = at): never => {
    const before = text.slice(0, where)
    const line = before.split('\n').length
    const column = where - before.lastIndexOf('\n')
    throw new DirectoryError(
      'invalid_request',
      `the body is not valid JSON: ${message} at line ${line}, column ${column}`,
    )
  }

  const skipSpace = (): void => {
    for (;;) {
      const c = text.charCodeAt(at)
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return
      at++
    }
  }

  const escaped = (): string => {
    const c = text[at + 1]
    if (c === 'u') {
      const hex = text.slice(at + 2, at + 6)
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) fail('\\u must be followed by four hexadecimal digits')
      at += 6
      return String.fromCharCode(Number.parseInt(hex, 16))
    }
    const plain = c === undefined ? undefined : ESCAPES[c]
    if (plain === undefined) return fail('unknown escape in a string')
    at += 2
    return plain
  }

  const string = (): string => {
    const start = at++
    let value = ''
    let run = at
    for (;;) {
      const c = text.charCodeAt(at)
      if (c === 0x22) break
      if (Number.isNaN(c)) fail('unterminated string', start)
      if (c < 0x20) fail('control character in a string (write it as an escape)')
      if (c === 0x5c) {
        value += text.slice(run, at)
        value += escaped()
        run = at
      } else at++
    }
    value += text.slice(run, at++)
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
    for (;;) {
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
    const result: JsonValue[] = []
    at++
    skipSpace()
    if (text[at] === ']') return closed(result)
    for (;;) {
      result.push(value(depth))
      if (text[at] === ',') at++
      else if (text[at] === ']') return closed(result)
      else fail('expected "," or "]"')
    }
  }

  /** One value with the white space around it. */
  const value = (depth: number): JsonValue => {
    skipSpace()
    let result: JsonValue
    switch (text[at]) {
      case '{':
        if (depth > MAX_JSON_DEPTH) fail(TOO_DEEP)
        result = object(depth + 1)
        break
      case '[':
        if (depth > MAX_JSON_DEPTH) fail(TOO_DEEP)
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
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPES: Record<string, string | undefined> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
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
