import { IMPLIED_OPERATION, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentCall } from '../../gateway.js'
import type { A2aTarget } from './target.js'

/** An input with one of these as its only member is sent as text, which most A2A agents expect. */
const TEXT_MEMBERS = new Set(['text', 'query', 'prompt', 'message', 'input', 'question', 'content'])

/** The content of the single part of a message. */
export type MessageContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: JsonValue }
  | { readonly kind: 'file'; readonly bytes: string; readonly mimeType: string }

/** Sends plain text as text and any other input as data. */
export function contentOf(input: JsonValue): MessageContent {
  if (typeof input === 'string') return { kind: 'text', text: input }
  const members = isObject(input) ? Object.entries(input) : []
  const [[name, value] = []] = members
  if (members.length === 1 && name !== undefined && TEXT_MEMBERS.has(name) && typeof value === 'string') {
    return { kind: 'text', text: value }
  }
  return { kind: 'data', data: input }
}

/** The parameters of `send` and `stream`, for any version and binding. */
export function writeSendParams(call: AgentCall, content: MessageContent, id: string, target: A2aTarget): JsonObject {
  const session = call.headers['x-session-id']
  const task = call.headers['x-task-id']
  const isOldRpc = target.version === '0.3' && target.binding === 'jsonrpc'
  const isOldHttp = target.version === '0.3' && target.binding === 'http'
  const part = isOldRpc ? oldRpcPart(content) : isOldHttp ? oldHttpPart(content) : newPart(content)
  return {
    ...(target.tenant && { tenant: target.tenant }),
    message: {
      // Agents that detect duplicates compare message ids, so a repeated call must have the same one.
      messageId: call.headers['idempotency-key'] ?? id,
      ...(session && { contextId: session }),
      ...(task && { taskId: task }),
      // A2A has no member for the requested skill; agents look for it here.
      ...(call.operation !== IMPLIED_OPERATION && { metadata: { skillId: call.operation } }),
      ...(isOldRpc ? { kind: 'message', role: 'user' } : { role: 'ROLE_USER' }),
      // HTTP+JSON of 0.3 follows the protobuf definition, where the parts are called `content`.
      ...(isOldHttp ? { content: [part] } : { parts: [part] }),
    },
    configuration: target.version === '0.3' ? { blocking: true } : { returnImmediately: false },
  }
}

function newPart(content: MessageContent): JsonObject {
  if (content.kind === 'text') return { text: content.text }
  if (content.kind === 'data') return { data: content.data, mediaType: 'application/json' }
  return { raw: content.bytes, mediaType: content.mimeType }
}

function oldRpcPart(content: MessageContent): JsonObject {
  if (content.kind === 'text') return { kind: 'text', text: content.text }
  if (content.kind === 'data') return { kind: 'data', ...oldData(content.data) }
  return { kind: 'file', file: { bytes: content.bytes, mimeType: content.mimeType } }
}

function oldHttpPart(content: MessageContent): JsonObject {
  if (content.kind === 'text') return { text: content.text }
  if (content.kind === 'data') return { data: { data: oldData(content.data).data } }
  return { file: { fileWithBytes: content.bytes, mimeType: content.mimeType } }
}

/** Data must be an object in 0.3; the SDKs wrap other values like this. */
const oldData = (data: JsonValue): { data: JsonObject; metadata?: JsonObject } =>
  isObject(data) ? { data } : { data: { value: data }, metadata: { data_part_compat: true } }
