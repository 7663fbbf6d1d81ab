import { DirectoryError } from './errors.js'

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject

/** A plain JSON object; what a member is called decides nothing about what it may hold. */
export interface JsonObject {
  [member: string]: JsonValue
}

/** Deeper documents are refused: nothing an agent describes needs more, and recursion stays bounded. */
export const MAX_JSON_DEPTH = 64

/**
 * Parses JSON more strictly than JSON.parse does, because what is read here is stored, compared and handed on:
 * duplicate members, a member named `__proto__`, lone surrogates, nesting deeper than 64 and numbers that overflow a
 * double are refused. The error gives line, column and, for an unquoted version (C-24), the remedy.
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
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) fail('\\u needs four hexadecimal digits')
      at += 6
      return String.fromCharCode(Number.parseInt(hex, 16))
    }
    const plain = c === undefined ? undefined : ESCAPES[c]
    if (plain === undefined) return fail('an unknown escape in a string')
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
      if (Number.isNaN(c)) fail('a string is not closed', start)
      if (c < 0x20) fail('a control character in a string (write it as an escape)')
      if (c === 0x5c) {
        value += text.slice(run, at)
        value += escaped()
        run = at
      } else at++
    }
    value += text.slice(run, at++)
    if (!value.isWellFormed()) fail('a string with half of a surrogate pair', start)
    return value
  }

  const number = (): number => {
    NUMBER.lastIndex = at
    if (!NUMBER.test(text)) return fail('an unexpected character')
    const start = at
    at = NUMBER.lastIndex
    // What follows a number and is no delimiter makes it none; only then a look back is worth its time.
    if (/[.\w+-]/.test(text[at] ?? '') && /"version"\s*:\s*$/.test(text.slice(0, start))) {
      fail('a version is text, not a number: quote it, as in "version": "1.2.3"', start)
    }
    const value = Number(text.slice(start, at))
    if (!Number.isFinite(value)) fail('a number too large for a double', start)
    return value
  }

  const word = (expected: string, value: null | boolean): null | boolean => {
    if (!text.startsWith(expected, at)) fail('an unexpected word')
    at += expected.length
    return value
  }

  /** The container that ends here. */
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
      if (name === '__proto__') fail('a member may not be named __proto__', start)
      if (Object.hasOwn(result, name)) fail(`the member ${JSON.stringify(name)} stands twice`, start)
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

  /** One value with the space around it. */
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
        result = fail('the text ends too early')
        break
      default:
        result = number()
    }
    skipSpace()
    return result
  }

  const result = value(1)
  if (at < text.length) fail('text after the end of the value')
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

/** Equality of JSON values: member order does not count, array order does. */
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

/** A JSON object, and neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is a string. */
export function asString(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The objects of an array; empty if it is none. */
export function asObjects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The strings of an array; empty if it is none. */
export function asStrings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** One reference token of a JSON pointer (RFC 6901). */
export const pointerToken = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
