import type { Params } from '@switchboard/agent-uri'
import { isObject, type JsonObject, type JsonValue, toJsonSchema } from '@switchboard/protocol'
import type { CallInput } from '../transports/call.js'

/** A JSON object, and neither bytes nor a form. */
export const isPlainInput = (input: CallInput | undefined): input is JsonObject =>
  isObject(input) && !(input instanceof Uint8Array) && !(input instanceof FormData)

/**
 * The input of a call: what the query of the URI says, in the types that the capability wants, and over it what the
 * caller gives. An input that is no object stands alone.
 */
export function toInput(
  params: Params,
  given: CallInput | undefined,
  schema: JsonObject | undefined,
): CallInput | undefined {
  const names = Object.keys(params)
  if (names.length === 0) return given
  if (given !== undefined && !isPlainInput(given)) return given
  const properties = toJsonSchema(schema).properties
  const typed = Object.entries(params).map(([name, value]) => [name, typedValue(value, typeOf(properties, name))])
  return { ...Object.fromEntries(typed), ...given }
}

function typeOf(properties: JsonValue | undefined, name: string): JsonValue | undefined {
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(property) ? property.type : undefined
}

/** Text of a query as the type that is wanted; as it is if it cannot be that, for the agent to judge. */
function typedValue(value: string | readonly string[], type: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string') return value.map((item) => item)
  if (type === 'array') return [value]
  if (type === 'boolean' && /^(true|false)$/.test(value)) return value === 'true'
  if ((type === 'number' || type === 'integer') && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value)
  return value
}

/** Characters of a URL beyond which servers and proxies begin to refuse. */
const MAX_URL_LENGTH = 2000

/** The URL with the input as its query, if it is flat and short enough to be one (AURI §8.3.1). */
export function asQuery(url: string, input: CallInput | undefined): string | undefined {
  if (input === undefined) return url
  if (!isPlainInput(input)) return undefined
  const values = Object.values(input)
  if (values.some((value) => value === null || typeof value === 'object')) return undefined
  const pairs = Object.entries(input).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  )
  const whole = withQuery(url, pairs.join('&'))
  return whole.length <= MAX_URL_LENGTH ? whole : undefined
}

/** A URL with more in its query. */
export function withQuery(url: string, query: string): string {
  if (query === '') return url
  return `${url}${url.includes('?') ? '&' : '?'}${query}`
}

/** The query as it was written, without the parameters that the caller gave another value for. */
export function keptQuery(query: string | null, given: CallInput | undefined): string {
  if (query === null || !isPlainInput(given)) return query ?? ''
  const isOverridden = (pair: string): boolean =>
    Object.hasOwn(given, new URLSearchParams(pair).keys().next().value ?? '')
  return query
    .split('&')
    .filter((pair) => !isOverridden(pair))
    .join('&')
}
