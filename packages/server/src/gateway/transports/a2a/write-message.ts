import {
  decodeUtf8,
  IMPLIED_OPERATION,
  isJsonType,
  isObject,
  type JsonObject,
  type JsonValue,
  mediaTypeOf,
} from '@switchboard/protocol'
import type { AgentCall } from '../../gateway.js'
import type { A2aTarget } from './target.js'

/** An input with one of these as its only member is sent as text, which most A2A agents expect. */
const TEXT_MEMBERS = new Set(['text', 'query', 'prompt', 'message', 'input', 'question', 'content'])

/** The content of the single part of a message. */
export type MessageContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: JsonValue }
  | { readonly kind: 'file'; readonly bytes: string; readonly mimeType: string }

/**
 * The input as text or as data, whichever of the two the agent accepts. One that accepts both, or does not say, is sent
 * plain text as text and any other input as data.
 *
 * @param types media types that the agent accepts; empty: it does not say
 */
export function contentOf(input: JsonValue, types: readonly string[]): MessageContent {
  const takesText = types.some((type) => TEXT_TYPES.has(type))
  const takesData = types.some((type) => DATA_TYPES.has(type) || isJsonType(type))
  if (takesData && !takesText) return { kind: 'data', data: input }
  const text = textIn(input, takesText && !takesData)
  if (text !== undefined) return { kind: 'text', text }
  return takesText && !takesData ? { kind: 'text', text: JSON.stringify(input) } : { kind: 'data', data: input }
}

const TEXT_TYPES = new Set(['text/plain', 'text/*', '*/*'])
const DATA_TYPES = new Set(['application/*', '*/*'])

/** The text of an input that is nothing but text: a string, or an object with one member for it. */
function textIn(input: JsonValue, isAnyMember: boolean): string | undefined {
  if (typeof input === 'string') return input
  const [[name = '', value] = [], more] = isObject(input) ? Object.entries(input) : []
  return more === undefined && typeof value === 'string' && (isAnyMember || TEXT_MEMBERS.has(name)) ? value : undefined
}

/** A body of another media type: text as text, if the agent accepts it, and anything else as a file. */
export function contentOfBody(bytes: Uint8Array, contentType: string, types: readonly string[]): MessageContent {
  const mimeType = mediaTypeOf(contentType)
  const text = mimeType === 'text/plain' && types.some((type) => TEXT_TYPES.has(type)) ? decodeUtf8(bytes) : undefined
  if (text !== undefined) return { kind: 'text', text }
  return { kind: 'file', bytes: Buffer.from(bytes).toString('base64'), mimeType: contentType }
}

/** The parameters of `send` and `stream`, for any version and binding. The agent is not to wait for the end of its task. */
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
    configuration: {
      ...(target.version === '0.3' ? { blocking: false } : { returnImmediately: true }),
      ...(call.accept !== undefined && { acceptedOutputModes: [call.accept] }),
    },
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
