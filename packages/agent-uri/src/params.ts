import { decodeText } from './percent.js'

/** Decoded parameters of a query. A repeated key has a list. Use `Object.hasOwn` to look up keys from outside. */
export type Params = Readonly<Record<string, string | readonly string[]>>

/** Parameters to write into a query; `undefined` and empty lists are left out. */
export type WritableParams = Readonly<Record<string, WritableValue | readonly WritableValue[] | undefined>>
type WritableValue = string | number | boolean

/** Parses "key=value" pairs separated by "&". "+" is a space; the value of a key without "=" is the empty string. */
export function parseParams(query: string): Params {
  const params = new Map<string, string | string[]>()
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const key = decodeFormText(equals === -1 ? pair : pair.slice(0, equals))
    const value = equals === -1 ? '' : decodeFormText(pair.slice(equals + 1))
    const earlier = params.get(key)
    if (earlier === undefined) params.set(key, value)
    else if (typeof earlier === 'string') params.set(key, [earlier, value])
    else earlier.push(value)
  }
  // fromEntries defines own properties, so the key "__proto__" is safe.
  return Object.fromEntries(params)
}

const decodeFormText = (text: string) => decodeText(text.replaceAll('+', ' '))

/** Writes a query that every parser reads the same way: a space is %20 and a plus %2B. */
export function formatParams(params: WritableParams): string {
  return Object.entries(params)
    .flatMap(([key, value]) => listOf(value).map((item) => `${encode(key)}=${encode(String(item))}`))
    .join('&')
}

function listOf(value: WritableParams[string]): readonly WritableValue[] {
  if (value === undefined) return []
  return typeof value === 'object' ? value : [value]
}

// A lone surrogate has no UTF-8 encoding; it becomes U+FFFD, as in web forms.
const LONE_SURROGATE = /\p{Surrogate}/gu

const encode = (text: string) => encodeURIComponent(text.replace(LONE_SURROGATE, '\uFFFD'))
