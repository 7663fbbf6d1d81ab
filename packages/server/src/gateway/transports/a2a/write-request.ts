import type { JsonObject } from '@switchboard/protocol'
import type { JsonRequest } from '../rpc/send-json.js'
import { type A2aTarget, withoutTrailingSlashes } from './target.js'

/** An operation of A2A. */
export type A2aAction =
  | { readonly kind: 'send' | 'stream'; readonly params: JsonObject }
  | { readonly kind: 'get' | 'cancel'; readonly task: string }

const METHODS: Record<A2aTarget['version'], Record<A2aAction['kind'], string>> = {
  '0.3': { send: 'message/send', stream: 'message/stream', get: 'tasks/get', cancel: 'tasks/cancel' },
  '1.0': { send: 'SendMessage', stream: 'SendStreamingMessage', get: 'GetTask', cancel: 'CancelTask' },
}

/** The HTTP request for an action, in the version and binding of the agent; `id` is the id of the JSON-RPC request. */
export function writeRequest(
  target: A2aTarget,
  action: A2aAction,
  headers: Readonly<Record<string, string>>,
  id: string,
): JsonRequest {
  const allHeaders = {
    ...headers,
    accept: action.kind === 'stream' ? 'text/event-stream, application/json' : 'application/json',
    'content-type': 'application/json',
    ...(target.version === '1.0' && { 'a2a-version': '1.0' }),
  }
  return target.binding === 'jsonrpc'
    ? { method: 'POST', url: target.url, headers: allHeaders, body: rpcBody(target, action, id) }
    : httpRequest(target, action, allHeaders)
}

function rpcBody(target: A2aTarget, action: A2aAction, id: string): JsonObject {
  const params =
    'params' in action ? action.params : { id: action.task, ...(target.tenant && { tenant: target.tenant }) }
  return { jsonrpc: '2.0', id, method: METHODS[target.version][action.kind], params }
}

/** HTTP+JSON: paths are below /v1 in 0.3, and below the tenant, if any, in 1.0. */
function httpRequest(target: A2aTarget, action: A2aAction, headers: Record<string, string>): JsonRequest {
  const prefix = target.version === '0.3' ? '/v1' : target.tenant ? `/${encodeURIComponent(target.tenant)}` : ''
  const base = withoutTrailingSlashes(target.url) + prefix
  if ('params' in action) {
    return { method: 'POST', url: `${base}/message:${action.kind}`, headers, body: action.params }
  }
  const task = `${base}/tasks/${encodeURIComponent(action.task)}`
  if (action.kind === 'cancel') return { method: 'POST', url: `${task}:cancel`, headers, body: {} }
  const { 'content-type': _, ...withoutType } = headers
  return { method: 'GET', url: task, headers: withoutType }
}
