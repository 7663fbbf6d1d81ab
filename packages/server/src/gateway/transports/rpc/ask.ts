import { isJsonType, type JsonValue, mediaTypeOf, type ServerSentEvent } from '@switchboard/protocol'
import { GatewayError } from '../../gateway.js'
import { outgoingHeaders } from '../../http/outgoing-headers.js'
import { decodeWhole, parseAnswer, readAllEvents } from '../../http/read-stream.js'
import type { ResponseBody } from '../../http/response-body.js'
import type { HttpRequest, HttpResponse } from '../../http/send-request.js'

/** What an agent answered, as far as it has come. */
export interface Asked extends Pick<HttpResponse, 'status' | 'headers'> {
  /** Leaving the iteration early closes the connection. */
  readonly body: Pick<ResponseBody, 'collect' | 'cancel'> & AsyncIterable<Uint8Array>
}

/** Sends one request through the address guard; every failure is a GatewayError. */
export type Ask = (request: HttpRequest) => Promise<Asked>

/** One request of a protocol that is spoken in JSON. */
export interface JsonRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: JsonValue
  readonly silenceMs?: number
}

export async function askJson(ask: Ask, request: JsonRequest, signal: AbortSignal): Promise<Asked> {
  const { method, body, silenceMs } = request
  if (!URL.canParse(request.url)) throw new GatewayError('not_invocable', `${request.url} is not an absolute URL`)
  const url = new URL(request.url)
  const headers = outgoingHeaders(Object.entries(request.headers))
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await ask({ method, url, headers, signal, ...sent, ...(silenceMs !== undefined && { silenceMs }) })
  if (answer.status >= 300 && answer.status < 400) {
    answer.body.cancel()
    // A redirect could lead past the address guard, and the credential with it.
    throw badAnswer(`it redirects (${answer.status}), which is not followed: register the address it leads to`)
  }
  return answer
}

/** What the agent said is not what its protocol says. */
export const badAnswer = (what: string): GatewayError =>
  new GatewayError('bad_response', `the agent gave no valid answer: ${what}`, { mayHaveRun: true })

export const isSuccess = ({ status }: Asked): boolean => status >= 200 && status < 300
export const isEvents = ({ headers }: Asked): boolean => mediaTypeOf(headers['content-type']) === 'text/event-stream'
export const isJson = ({ headers }: Asked): boolean => isJsonType(mediaTypeOf(headers['content-type']))

/** The whole body as strict JSON. */
export async function readJson({ body }: Asked, maxBytes: number): Promise<JsonValue> {
  return parseAnswer(decodeWhole(await body.collect(maxBytes)))
}

/** Parses the body if it is JSON; with an error status it is often an HTML page. */
export async function readJsonIfAny(answer: Asked, maxBytes: number): Promise<JsonValue | undefined> {
  if (!isJson(answer)) {
    answer.body.cancel()
    return undefined
  }
  try {
    return await readJson(answer, maxBytes)
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'bad_response') return undefined
    throw error
  }
}

/** Server-sent events as they arrive, none larger than the limit; a slow reader slows the agent down. */
export const readEvents = ({ body }: Asked, maxBytes: number): AsyncGenerator<ServerSentEvent, void> =>
  readAllEvents(body, maxBytes)
