import { asString, isObject } from '@switchboard/protocol'
import { type AgentAnswer, type AgentCall, type AgentTask, GatewayError, type Way } from '../call.js'
import type { Exchange, ExchangeRequest } from '../exchange.js'
import { type AnswerLimits, readHttpAnswer, taskOf } from '../http-answer.js'
import { outgoingHeaders } from '../outgoing-headers.js'
import { patienceOf } from '../patience.js'
import type { Transport } from '../transports.js'

const ACCEPT_ANSWER = 'application/json, */*;q=0.1'
const ACCEPT_STREAM = 'text/event-stream, application/x-ndjson;q=0.9, application/json;q=0.8, */*;q=0.1'

/** Where a request of a way goes: a URL, and the `Host` to name if it is not the URL's own. */
export interface HttpTarget {
  readonly url: URL
  readonly host?: string
}

interface HttpPayload {
  readonly contentType: string
  readonly body: NonNullable<ExchangeRequest['body']>
}

export interface HttpTransportDeps {
  readonly exchange: Exchange
  readonly limits: AnswerLimits
  /** Reads a way's endpoint; throws GatewayError if it cannot be called. */
  readonly target: (endpoint: string) => HttpTarget | Promise<HttpTarget>
}

/** Plain HTTP with JSON: the input is POSTed to the endpoint, the output is the answer (AIDIP 01 §5). */
export function createHttpTransport({ exchange, limits, target }: HttpTransportDeps): Transport {
  const send = async (method: string, call: AgentCall, { url, host }: HttpTarget, payload?: HttpPayload) => {
    const headers = outgoingHeaders(Object.entries(call.headers))
    headers.accept ??= call.wantsStream ? ACCEPT_STREAM : ACCEPT_ANSWER
    if (host !== undefined) headers.host = host
    if (payload) headers['content-type'] = payload.contentType
    else delete headers['content-type']
    return exchange({
      url,
      method,
      headers,
      signal: call.signal,
      silenceMs: patienceOf(call),
      ...(payload && { body: payload.body }),
    })
  }

  return {
    async call(call, way) {
      const at = await target(way.endpoint)
      const answer = await send('POST', call, at, payloadOf(call, way))
      return readHttpAnswer(answer, call, { way, url: at.url, limits })
    },

    async poll(call, way, task) {
      const at = await target(way.endpoint)
      const url = taskUrl(task, at.url)
      const answer = await readHttpAnswer(await send('GET', call, { ...at, url }), call, { way, url, limits })
      // A 202 that names no other place is about the place that was asked.
      if (answer.kind === 'task' && answer.headers.location === undefined)
        return { ...answer, task: { ...answer.task, url: url.href } }
      return answer.kind === 'json' && answer.status < 300 ? readTask(answer, answer.value, url) : answer
    },

    async cancel(call, way, task) {
      const at = await target(way.endpoint)
      const { body } = await send('DELETE', call, { ...at, url: taskUrl(task, at.url) })
      // Whether it stopped or had ended before: there is no more that could be done about it.
      body.cancel()
    },
  }
}

/** Where several operations share an endpoint, the body says which is meant (AIDIP 01 §5.1). */
function payloadOf({ payload, operation }: AgentCall, { namesOperation }: Way): HttpPayload {
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
function readTask(answer: AgentAnswer, value: Extract<AgentAnswer, { kind: 'json' }>['value'], url: URL): AgentAnswer {
  const { status, headers, way } = answer
  const told = { status, headers, way }
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
