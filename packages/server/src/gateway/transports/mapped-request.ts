import { type HttpMapping, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { type AgentCall, GatewayError, type Payload } from '../gateway.js'
import type { HttpPayload } from './http-transport.js'

/** A request as an OpenAPI description says. */
export interface MappedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly payload?: HttpPayload
}

/** Headers that a parameter may not set: they belong to the directory, or to the agent's credential. */
const OWN_HEADERS =
  /^(?:authorization|cookie|host|via|forwarded|x-forwarded-.*|x-api-key|traceparent|tracestate|content-.*)$/i
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'DELETE'])

type MappedCall = Pick<AgentCall, 'payload' | 'headers'>

/** Turns the input of an operation into a request: path, query and header parameters, and the rest as the body. */
export function toMappedRequest(mapping: HttpMapping, { payload, headers: own }: MappedCall, base: URL): MappedRequest {
  const { method, parameters, key } = mapping
  const input = payload.kind === 'json' && isObject(payload.value) ? payload.value : {}
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + fillPath(mapping.path, input)
  const headers: Record<string, string> = { ...own }
  const secret = own['x-api-key']
  if (key && secret !== undefined) {
    delete headers['x-api-key']
    if (key.place === 'query') url.searchParams.set(key.name, secret)
    else headers[key.name.toLowerCase()] = secret
  }
  for (const [name, place] of Object.entries(parameters)) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    if (value === undefined || value === null) continue
    if (place === 'query') for (const each of [value].flat()) url.searchParams.append(name, asText(each))
    else if (place === 'header' && !OWN_HEADERS.test(name)) headers[name.toLowerCase()] ??= asText(value)
  }
  const body = bodyOf(mapping, payload, input)
  return { method, url, headers, ...(body && { payload: body }) }
}

/** Segments that a URL resolves, however they are written. */
const LEAVES_PATH = /\\|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i

/** A value never adds a segment to the path, or takes one away. */
function fillPath(path: string, input: JsonObject): string {
  if (LEAVES_PATH.test(path))
    throw new GatewayError('not_invocable', 'the path of the operation leaves the endpoint of the agent')
  return path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    const text = value === undefined ? '' : asText(value)
    if (text === '' || text === '.' || text === '..')
      throw new GatewayError('not_invocable', `the member ${name} is part of the path and cannot be "${text}"`)
    return encodeURIComponent(text)
  })
}

function bodyOf(
  { method, parameters, body, form }: HttpMapping,
  payload: Payload,
  input: JsonObject,
): HttpPayload | undefined {
  if (payload.kind === 'bytes') return payload
  const rest = Object.entries(input).filter(([name]) => !Object.hasOwn(parameters, name))
  const value = body === undefined ? Object.fromEntries(rest) : input[body]
  if (value === undefined || (WITHOUT_BODY.has(method) && rest.length === 0)) return undefined
  if (!form) return { contentType: 'application/json', body: JSON.stringify(value) }
  const fields = new URLSearchParams()
  for (const [name, field] of Object.entries(isObject(value) ? value : {}))
    for (const each of [field ?? null].flat()) if (each !== null) fields.append(name, asText(each))
  return { contentType: 'application/x-www-form-urlencoded', body: fields.toString() }
}

const asText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value))
