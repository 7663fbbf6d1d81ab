import { asString, isObject } from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type AgentTask, type Endpoint, GatewayError } from '../gateway.js'
import { outgoingHeaders } from '../http/outgoing-headers.js'
import { type ResponseLimits, readResponse, taskOf } from '../http/read-response.js'
import type { HttpRequest, SendRequest } from '../http/send-request.js'
import { patienceOf } from '../patience.js'
import type { Transport } from './transports.js'

const ACCEPT_ANSWER = 'application/json, */*;q=0.1'
const ACCEPT_STREAM = 'text/event-stream, application/x-ndjson;q=0.9, application/json;q=0.8, */*;q=0.1'

/** Where a request of a way goes: a URL, and the `Host` to name if it is not the URL's own. */
export interface HttpTarget {
  readonly url: URL
  readonly host?: string
}

interface HttpPayload {
  readonly contentType: string
  readonly body: NonNullable<HttpRequest['body']>
}

export interface HttpTransportDeps {
  readonly sendRequest: SendRequest
  readonly limits: ResponseLimits
  /** Reads a way's endpoint; throws GatewayError if it cannot be called. */
  readonly target: (endpoint: string) => HttpTarget | Promise<HttpTarget>
}

/** Plain HTTP with JSON: the input is POSTed to the endpoint, the output is the answer (AIDIP 01 §5). */
export function createHttpTransport({ sendRequest, limits, target }: HttpTransportDeps): Transport {
  const send = async (method: string, call: AgentCall, { url, host }: HttpTarget, payload?: HttpPayload) => {
    const headers = outgoingHeaders(Object.entries(call.headers))
    headers.accept ??= call.wantsStream ? ACCEPT_STREAM : ACCEPT_ANSWER
    if (host !== undefined) headers.host = host
    if (payload) headers['content-type'] = payload.contentType
    else delete headers['content-type']
    return sendRequest({
      url,
      method,
      headers,
      signal: call.signal,
      silenceMs: patienceOf(call),
      ...(payload && { body: payload.body }),
    })
  }

  return {
    async call(call, endpoint) {
      const at = await target(endpoint.url)
      const answer = await send('POST', call, at, payloadOf(call, endpoint))
      return readResponse(answer, call, { endpoint, url: at.url, limits })
    },

    async poll(call, endpoint, task) {
      const at = await target(endpoint.url)
      const url = taskUrl(task, at.url)
      const answer = await readResponse(await send('GET', call, { ...at, url }), call, { endpoint, url, limits })
      // A 202 that names no other place is about the place that was asked.
      if (answer.kind === 'task' && answer.headers.location === undefined)
        return { ...answer, task: { ...answer.task, url: url.href } }
      return answer.kind === 'json' && answer.status < 300 ? readTask(answer, answer.value, url) : answer
    },

    async cancel(call, endpoint, task) {
      const at = await target(endpoint.url)
      const { body } = await send('DELETE', call, { ...at, url: taskUrl(task, at.url) })
      // Whether it stopped or had ended before: there is no more that could be done about it.
      body.cancel()
    },
  }
}

/** Where several operations share an endpoint, the body says which is meant (AIDIP 01 §5.1). */
function payloadOf({ payload, operation }: AgentCall, { namesOperation }: Endpoint): HttpPayload {
  if (payload.kind === 'bytes') return payload
  const value = namesOperation && isObject(payload.value) ? { ...payload.value, operation } : payload.value
  return { contentType: 'application/json', body: JSON.stringify(value) }
}

function taskUrl(task: AgentTask, endpoint: URL): URL {
  const url = new URL(task.url ?? `/tasks/${encodeURIComponent(task.id)}`, endpoint)
  if (url.origin === endpoint.origin) return url
  throw new GatewayError('blocked', 'the task lies at another address than its agent')
}

const SUCCEEDED: ReadonlySet<string> = new Set(['completed', 'succeeded', 'success', 'done', 'finished'])
const FAILED: ReadonlySet<string> = new Set(['failed', 'error', 'cancelled', 'canceled', 'rejected', 'expired'])

/** A document that says how a task is doing, or else the result itself. */
function readTask(
  answer: AgentResponse,
  value: Extract<AgentResponse, { kind: 'json' }>['value'],
  url: URL,
): AgentResponse {
  const { status, headers, endpoint } = answer
  const told = { status, headers, endpoint }
  if (!isObject(value) || (value.taskId ?? value.task_id ?? value.id) === undefined) return answer
  const state = asString(value.status)?.toLowerCase()
  if (state === undefined) return answer
  if (SUCCEEDED.has(state)) return { ...told, kind: 'json', value: value.result ?? value.output ?? value }
  if (FAILED.has(state)) {
    const error = isObject(value.error) ? value.error : { code: 'AgentError', message: `the task ended as ${state}` }
    return { ...told, status: 500, kind: 'json', value: { error } }
  }
  const task = taskOf(value, { ...headers, location: url.href }, url)
  return task ? { ...told, kind: 'task', task } : answer
}
