import { isJsonType, type JsonValue, mediaTypeOf } from '@switchboard/protocol'
import type { CancelSignal } from '../../../cancellation.js'
import { GatewayError } from '../../gateway.js'
import { outgoingHeaders } from '../../http/outgoing-headers.js'
import { decodeText, parseResponseJson } from '../../http/read-stream.js'
import type { HttpResponse, SendRequest } from '../../http/send-request.js'

/** A request with a JSON body. */
export interface JsonRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: JsonValue
  readonly silenceMs?: number
  readonly onSent?: () => void
}

/** Sends a JSON request; throws `bad_response` for a redirect. */
export async function sendJson(
  sendRequest: SendRequest,
  request: JsonRequest,
  signal: CancelSignal,
): Promise<HttpResponse> {
  const { method, body, silenceMs, onSent } = request
  if (!URL.canParse(request.url)) throw new GatewayError('not_invocable', `${request.url} is not an absolute URL`)
  const response = await sendRequest({
    method,
    url: new URL(request.url),
    headers: outgoingHeaders(request.headers),
    signal,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(silenceMs !== undefined && { silenceMs }),
    ...(onSent && { onSent }),
  })
  if (response.status >= 300 && response.status < 400) {
    response.body.cancel()
    // A redirect could bypass the address guard and leak the credential.
    throw badResponse(`it redirects (${response.status}), and redirects are not followed: register the final URL`)
  }
  return response
}

/** The error for a response that violates its protocol. */
export const badResponse = (problem: string): GatewayError =>
  new GatewayError('bad_response', `the response of the agent is not valid: ${problem}`, { mayHaveRun: true })

export const isSuccess = ({ status }: HttpResponse): boolean => status >= 200 && status < 300
export const isEventStream = ({ headers }: HttpResponse): boolean =>
  mediaTypeOf(headers['content-type']) === 'text/event-stream'

/** Limits of a JSON response. */
export interface JsonResponseLimits {
  readonly maxBytes: number
  readonly maxValues: number
}

/** Parses the whole body as strict JSON, whatever its media type. */
export async function readJson({ body }: HttpResponse, limits: JsonResponseLimits): Promise<JsonValue> {
  return parseResponseJson(decodeText(await body.collect(limits.maxBytes)), limits.maxValues)
}

/** Parses the body; throws `bad_response` if its media type is not JSON. */
export async function requireJson(response: HttpResponse, limits: JsonResponseLimits): Promise<JsonValue> {
  if (isJson(response)) return readJson(response, limits)
  response.body.cancel()
  throw badResponse('it is neither JSON nor an event stream')
}

/** Parses the body if it is valid JSON; the body of an error is often an HTML page. */
export async function readJsonIfAny(
  response: HttpResponse,
  limits: JsonResponseLimits,
): Promise<JsonValue | undefined> {
  if (!isJson(response)) {
    response.body.cancel()
    return undefined
  }
  return undefinedIfBad(readJson(response, limits))
}

/** `undefined` instead of a `bad_response` error. */
export async function undefinedIfBad<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'bad_response') return undefined
    throw error
  }
}

const isJson = ({ headers }: HttpResponse): boolean => isJsonType(mediaTypeOf(headers['content-type']))
