import { isObject, readPolledTask } from '@switchboard/protocol'
import { type AgentCall, type AgentResponse, type AgentTask, type Endpoint, GatewayError } from '../gateway.js'
import { outgoingHeaders } from '../http/outgoing-headers.js'
import { type ResponseLimits, readResponse, taskOf } from '../http/read-response.js'
import type { HttpRequest, HttpResponse, SendRequest } from '../http/send-request.js'
import { createBestEffort } from '../resilience/best-effort.js'
import { silenceLimitOf } from '../resilience/deadline.js'
import { createRunUndoable } from '../resilience/undoable.js'
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
  readonly monotonic: () => number
  /** Parses the URL of an endpoint; throws GatewayError if it may not be called. Default: any valid URL. */
  readonly target?: (endpoint: Endpoint) => HttpTarget | Promise<HttpTarget>
}

/** Statuses of a DELETE that mean that there is nothing to cancel: the task is unknown or has ended. */
const ENDED: ReadonlySet<number> = new Set([404, 409, 410])

/**
 * Milliseconds in which an agent that is asked to defer the work responds with a task. After that it works on the
 * response, and closing the connection stops it.
 */
const ACCEPT_MS = 1000

/**
 * Plain HTTP: the input is POSTed to the endpoint as JSON or bytes, the response is the output (AIDIP 01 §5). Closing the
 * connection cancels the work, unless the agent has accepted it as a task.
 */
export function createHttpTransport(deps: HttpTransportDeps): Transport {
  const { sendRequest, limits, monotonic, target = httpTarget } = deps
  const runUndoable = createRunUndoable({ monotonic })
  const bestEffort = createBestEffort()

  const send = (
    method: string,
    call: AgentCall,
    { url, host }: HttpTarget,
    payload?: HttpPayload,
    onSent?: () => void,
  ): Promise<HttpResponse> => {
    const headers = outgoingHeaders(call.headers)
    headers.accept ??= call.wantsStream ? ACCEPT_STREAM : ACCEPT_RESPONSE
    if (host !== undefined) headers.host = host
    if (payload) headers['content-type'] = payload.contentType
    else delete headers['content-type']
    return sendRequest({
      url,
      method,
      headers,
      body: payload?.body,
      signal: call.signal,
      silenceMs: silenceLimitOf(call),
      timeoutMs: call.timeoutMs,
      onSent,
    })
  }

  const post = async (call: AgentCall, endpoint: Endpoint, onSent?: () => void): Promise<AgentResponse> => {
    const found = target(endpoint)
    const to = found instanceof Promise ? await found : found
    const mapped = call.http && toMappedRequest(call.http, call, to.url)
    const response = mapped
      ? await send(
          mapped.method,
          { ...call, headers: mapped.headers },
          { ...to, url: mapped.url },
          mapped.payload,
          onSent,
        )
      : await send('POST', call, to, payloadOf(call, endpoint), onSent)
    const read = readResponse(response, call, { endpoint, url: mapped ? withoutQuery(mapped.url) : to.url, limits })
    return read instanceof Promise ? await read : read
  }

  const cancel: Transport['cancel'] = async (call, endpoint, task) => {
    const to = await target(endpoint)
    const { status, body } = await send('DELETE', call, { ...to, url: taskUrl(task, to.url) })
    body.cancel()
    if (status < 300 || ENDED.has(status)) return
    const isTemporary = status === 429 || (status >= 500 && status !== 501)
    const message = `the agent did not cancel its task (status ${status})`
    throw new GatewayError(isTemporary ? 'bad_response' : 'not_invocable', message)
  }

  /** Asks the agent for a task. If the call is aborted, a task that the agent accepts nevertheless is cancelled. */
  const defer = ({ signal, ...call }: AgentCall, endpoint: Endpoint): Promise<AgentResponse> => {
    const headers = { prefer: 'respond-async', ...call.headers }
    return runUndoable<AgentResponse>(signal, {
      graceMs: (sentMsAgo) => ACCEPT_MS - sentMsAgo,
      work: (signal, onSent) => post({ ...call, headers, signal }, endpoint, onSent),
      undo(response) {
        if (response.kind !== 'task') return
        const { task } = response
        bestEffort((signal) => cancel({ ...call, signal }, endpoint, task))
      },
    })
  }

  return {
    call: (call, endpoint) => (call.prefersTask ? defer(call, endpoint) : post(call, endpoint)),

    async poll(call, endpoint, task) {
      const to = await target(endpoint)
      const url = taskUrl(task, to.url)
      const response = await readResponse(await send('GET', call, { ...to, url }), call, { endpoint, url, limits })
      // A 202 without a Location keeps the URL that was polled.
      if (response.kind === 'task' && response.headers.location === undefined) {
        return { ...response, task: { ...response.task, url: url.href } }
      }
      return response.kind === 'json' && response.status < 300 ? readPoll(response, task, url) : response
    },

    cancel,
  }
}

/** The query may contain the API key, and addresses in the response are relative to this one. */
function withoutQuery(url: URL): URL {
  const plain = new URL(url)
  plain.search = ''
  return plain
}

/** Parsed once: the endpoints of an agent are the same objects until it changes. */
const targets = new WeakMap<Endpoint, HttpTarget>()

function httpTarget(endpoint: Endpoint): HttpTarget {
  const known = targets.get(endpoint)
  if (known) return known
  try {
    const target = { url: new URL(endpoint.url) }
    targets.set(endpoint, target)
    return target
  } catch (cause) {
    throw new GatewayError('blocked', 'the endpoint of the agent is not a valid URL', { cause })
  }
}

/** If several operations share the endpoint, the body names the operation (AIDIP 01 §5.1). */
function payloadOf({ payload, operation }: AgentCall, { namesOperation }: Endpoint): HttpPayload {
  if (payload.kind === 'bytes') return payload
  const { value, text } = payload
  const body =
    namesOperation && isObject(value) ? JSON.stringify({ ...value, operation }) : (text ?? JSON.stringify(value))
  return { contentType: 'application/json', body }
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
      return { kind: 'json', value: polled.result, ...base }
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
      return task ? { kind: 'task', task, ...base } : response
    }
  }
}
