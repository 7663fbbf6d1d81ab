import { isObject, readPolledTask } from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type AgentTask, type Endpoint, GatewayError } from '../gateway.js'
import { outgoingHeaders } from '../http/outgoing-headers.js'
import { type ResponseLimits, readResponse, taskOf } from '../http/read-response.js'
import type { HttpRequest, SendRequest } from '../http/send-request.js'
import { silenceLimitOf } from '../resilience/deadline.js'
import { toMappedRequest } from './mapped-request.js'
import type { Transport } from './transports.js'

const ACCEPT_RESPONSE = 'application/json, */*;q=0.1'
const ACCEPT_STREAM = 'text/event-stream, application/x-ndjson;q=0.9, application/json;q=0.8, */*;q=0.1'

/** Where to send a request: the URL, and the `Host` header if it differs from the host of the URL. */
export interface HttpTarget {
  readonly url: URL
  readonly host?: string
}

/** The body of a request. */
export interface HttpPayload {
  readonly contentType: string
  readonly body: NonNullable<HttpRequest['body']>
}

export interface HttpTransportDeps {
  readonly sendRequest: SendRequest
  readonly limits: ResponseLimits
  /** Parses the URL of an endpoint; throws GatewayError if it may not be called. Default: any valid URL. */
  readonly target?: (endpoint: string) => HttpTarget | Promise<HttpTarget>
}

/** Plain HTTP: the input is POSTed to the endpoint as JSON or bytes, the response is the output (AIDIP 01 §5). */
export function createHttpTransport({ sendRequest, limits, target = httpTarget }: HttpTransportDeps): Transport {
  const send = async (method: string, call: AgentCall, { url, host }: HttpTarget, payload?: HttpPayload) => {
    const headers = outgoingHeaders(Object.entries(call.headers))
    headers.accept ??= call.wantsStream ? ACCEPT_STREAM : ACCEPT_RESPONSE
    if (host !== undefined) headers.host = host
    if (payload) headers['content-type'] = payload.contentType
    else delete headers['content-type']
    return sendRequest({
      url,
      method,
      headers,
      signal: call.signal,
      silenceMs: silenceLimitOf(call),
      ...(payload && { body: payload.body }),
    })
  }

  return {
    async call(call, endpoint) {
      const to = await target(endpoint.url)
      const mapped = call.http && toMappedRequest(call.http, call, to.url)
      const response = mapped
        ? await send(mapped.method, { ...call, headers: mapped.headers }, { ...to, url: mapped.url }, mapped.payload)
        : await send('POST', call, to, payloadOf(call, endpoint))
      return readResponse(response, call, { endpoint, url: mapped ? withoutQuery(mapped.url) : to.url, limits })
    },

    async poll(call, endpoint, task) {
      const to = await target(endpoint.url)
      const url = taskUrl(task, to.url)
      const response = await readResponse(await send('GET', call, { ...to, url }), call, { endpoint, url, limits })
      // A 202 without a Location keeps the URL that was polled.
      if (response.kind === 'task' && response.headers.location === undefined) {
        return { ...response, task: { ...response.task, url: url.href } }
      }
      return response.kind === 'json' && response.status < 300 ? readPoll(response, task, url) : response
    },

    async cancel(call, endpoint, task) {
      const to = await target(endpoint.url)
      const { body } = await send('DELETE', call, { ...to, url: taskUrl(task, to.url) })
      // Any status will do: there is nothing else to try.
      body.cancel()
    },
  }
}

/** The query may contain the API key, and addresses in the response are relative to this one. */
function withoutQuery(url: URL): URL {
  const plain = new URL(url)
  plain.search = ''
  return plain
}

function httpTarget(endpoint: string): HttpTarget {
  try {
    return { url: new URL(endpoint) }
  } catch (cause) {
    throw new GatewayError('blocked', 'the endpoint of the agent is not a valid URL', { cause })
  }
}

/** If several operations share the endpoint, the body names the operation (AIDIP 01 §5.1). */
function payloadOf({ payload, operation }: AgentCall, { namesOperation }: Endpoint): HttpPayload {
  if (payload.kind === 'bytes') return payload
  const value = namesOperation && isObject(payload.value) ? { ...payload.value, operation } : payload.value
  return { contentType: 'application/json', body: JSON.stringify(value) }
}

function taskUrl(task: AgentTask, endpoint: URL): URL {
  const url = new URL(task.url ?? `/tasks/${encodeURIComponent(task.id)}`, endpoint)
  if (url.origin === endpoint.origin) return url
  throw new GatewayError('blocked', 'the URL of the task is not at the origin of the agent')
}

/** Reads the response to a poll. */
function readPoll(response: Extract<AgentResponse, { kind: 'json' }>, { id }: AgentTask, url: URL): AgentResponse {
  const { status, headers, endpoint, value } = response
  const base = { status, headers, endpoint }
  const polled = readPolledTask(value, id)
  switch (polled.outcome) {
    case 'succeeded':
      return { ...base, kind: 'json', value: polled.result }
    case 'failed': {
      const { error } = polled.document
      const message = `the task ended as ${polled.status}`
      return {
        ...base,
        status: 500,
        kind: 'json',
        value: { error: isObject(error) ? error : { code: 'AgentError', message } },
      }
    }
    case 'running': {
      const task = taskOf(value, { ...headers, location: url.href }, url)
      return task ? { ...base, kind: 'task', task } : response
    }
  }
}
