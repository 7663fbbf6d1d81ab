import type { Params } from '@switchboard/agent-uri'
import { isObject, type JsonObject, readQueryInput } from '@switchboard/protocol'
import type { CallInput } from '../transports/call.js'

/** Whether an input is a JSON object, and neither bytes nor a form. */
export const isPlainInput = (input: CallInput | undefined): input is JsonObject =>
  isObject(input) && !(input instanceof Uint8Array) && !(input instanceof FormData)

/**
 * The input of a call: the query of the URI, converted to the declared types, overridden by what the caller passes. An
 * input that is not an object replaces the query.
 */
export function toInput(
  params: Params,
  given: CallInput | undefined,
  schema: JsonObject | undefined,
): CallInput | undefined {
  if (Object.keys(params).length === 0) return given
  if (given !== undefined && !isPlainInput(given)) return given
  return { ...readQueryInput(Object.entries(params), schema), ...given }
}

/** Some servers and proxies reject longer URLs. */
const MAX_URL_LENGTH = 2000

/** The URL with the input as its query; undefined if the input is nested or too long for one (AURI §8.3.1). */
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

/** Appends to the query of a URL. */
export function withQuery(url: string, query: string): string {
  if (query === '') return url
  return `${url}${url.includes('?') ? '&' : '?'}${query}`
}

/** The query as it was written, without the parameters that the caller overrides. */
export function keptQuery(query: string | null, given: CallInput | undefined): string {
  if (query === null || !isPlainInput(given)) return query ?? ''
  const isOverridden = (pair: string): boolean =>
    Object.hasOwn(given, new URLSearchParams(pair).keys().next().value ?? '')
  return query
    .split('&')
    .filter((pair) => !isOverridden(pair))
    .join('&')
}
