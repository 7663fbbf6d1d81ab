import { type JsonValue, MAX_JSON_DEPTH } from '../json.js'
import { SigningError } from './signing-error.js'

/**
 * The canonical text of a JSON value (RFC 8785): no white space, members sorted by their UTF-16 code units, numbers and
 * strings as ECMAScript writes them.
 */
export function canonicalJson(value: JsonValue): string {
  return write(value, 0)
}

function write(value: JsonValue, depth: number): string {
  if (depth > MAX_JSON_DEPTH) throw new SigningError('malformed', `nesting is deeper than ${MAX_JSON_DEPTH}`)
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(',')}]`
  switch (typeof value) {
    case 'object':
      if (value === null) return 'null'
      return `{${Object.keys(value)
        .sort()
        .map((name) => `${text(name)}:${write(value[name] ?? null, depth + 1)}`)
        .join(',')}}`
    case 'string':
      return text(value)
    case 'number':
      if (!Number.isFinite(value)) throw new SigningError('malformed', 'the number is not finite')
      return JSON.stringify(value)
    default:
      return value ? 'true' : 'false'
  }
}

function text(value: string): string {
  if (!value.isWellFormed()) throw new SigningError('malformed', 'the string contains a lone surrogate')
  return JSON.stringify(value)
}
