import { decodeText } from './percent.js'

/** Decoded parameters of a query; a key that is repeated has a list. Ask with `Object.hasOwn` for foreign keys. */
export type Params = Readonly<Record<string, string | readonly string[]>>

/** What can be written into a query; `undefined` and the empty list are left out. */
export type WritableParams = Readonly<Record<string, WritableValue | readonly WritableValue[] | undefined>>
type WritableValue = string | number | boolean

/** Reads "key=value" pairs split by "&"; "+" is a space, a key without "=" has the empty string. */
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
  // fromEntries defines own properties, so a key "__proto__" is a key like any other.
  return Object.fromEntries(params)
}

const decodeFormText = (text: string) => decodeText(text.replaceAll('+', ' '))

/** Writes a query that every reader understands alike: a space is %20 and a plus %2B. */
export function formatParams(params: WritableParams): string {
  return Object.entries(params)
    .flatMap(([key, value]) => listOf(value).map((item) => `${encode(key)}=${encode(String(item))}`))
    .join('&')
}

function listOf(value: WritableParams[string]): readonly WritableValue[] {
  if (value === undefined) return []
  return typeof value === 'object' ? value : [value]
}

// Half of a surrogate pair has no UTF-8; it becomes U+FFFD, as in web forms.
const LONE_SURROGATE = /\p{Surrogate}/gu

const encode = (text: string) => encodeURIComponent(text.replace(LONE_SURROGATE, '\uFFFD'))
