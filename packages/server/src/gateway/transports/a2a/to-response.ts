import { Readable } from 'node:stream'
import { asString, type JsonObject, type JsonValue, mediaTypeOf, type StreamPart } from '@switchboard/protocol'
import type { AgentResponse, Endpoint } from '../../gateway.js'
import { type AgentFailure, agentFailure, failureResponse } from '../rpc/agent-failure.js'
import { type ContentItem, textOf, toJsonValue } from '../rpc/content.js'
import type { ErrorKind } from '../rpc/json-rpc.js'
import type { A2aEvent, A2aTask } from './read-event.js'
import type { A2aReply } from './send-action.js'

/** States of a task without a result. A2A defines no HTTP status for them, so these are ours. */
const UNSUCCESSFUL: Readonly<Record<string, ErrorKind | undefined>> = {
  failed: { status: 500, name: 'TaskFailed' },
  rejected: { status: 422, name: 'TaskRejected' },
  canceled: { status: 409, name: 'TaskCanceled' },
  'auth-required': { status: 401, name: 'AuthenticationRequired' },
}
const RUNNING: ReadonlySet<string> = new Set(['submitted', 'working'])

/**
 * Translates a reply for a caller that did not ask for a stream.
 *
 * @param accept the media type that the caller prefers to JSON; the result has it if it is a single text or file of it
 */
export function toResponse(reply: A2aReply, endpoint: Endpoint, accept?: string): AgentResponse {
  if (reply.kind === 'failure') return failureResponse(reply.failure, endpoint)
  const { event } = reply
  const headers = sessionHeaders(event)
  const base = { status: 200, endpoint, headers }
  if (event.kind === 'message' || event.kind === 'artifact') {
    return { ...base, ...(bytesOf(event.items, accept) ?? { kind: 'json', value: toJsonValue(event.items) }) }
  }
  if (RUNNING.has(event.state)) {
    return { kind: 'task', status: 202, task: { id: event.taskId, status: event.state }, endpoint, headers }
  }
  const failure = failureOfTask(event)
  if (failure) return { ...failureResponse(failure, endpoint), headers }
  const bytes = event.state === 'completed' ? bytesOf(contentOf(event), accept) : undefined
  return { ...base, ...(bytes ?? { kind: 'json', value: resultOf(event) }) }
}

/** A single text or file that has the media type the caller prefers, as it is. */
function bytesOf(items: readonly ContentItem[], accept: string | undefined) {
  const [item] = items.length === 1 ? items : []
  if (accept === undefined || !item) return undefined
  const toBytes = (contentType: string, bytes: Buffer) =>
    ({ kind: 'bytes', contentType, body: Readable.from([bytes], { objectMode: false }) }) as const
  if (item.kind === 'text') {
    return accept === 'text/plain' ? toBytes('text/plain; charset=utf-8', Buffer.from(item.text)) : undefined
  }
  const { mimeType, bytes } = item.kind === 'file' ? item.file : {}
  if (typeof bytes !== 'string' || mediaTypeOf(asString(mimeType)) !== accept) return undefined
  return toBytes(accept, Buffer.from(bytes, 'base64'))
}

/** The caller sends these back to continue the conversation (C-63). */
function sessionHeaders({ contextId, taskId }: A2aEvent): Record<string, string> {
  return {
    ...(contextId && { 'x-session-id': headerSafe(contextId) }),
    ...(taskId && { 'x-task-id': headerSafe(taskId) }),
  }
}

/** Ids come from the agent: removes what is not allowed in a header, and limits the length. */
const headerSafe = (text: string): string => text.replace(/[^\x21-\x7e]/g, '').slice(0, 200)

function failureOfTask({ state, message }: A2aTask): AgentFailure | undefined {
  const failure = UNSUCCESSFUL[state]
  return failure && agentFailure(failure.status, failure.name, textOf(message) || `The task is ${state}`)
}

function resultOf(task: A2aTask): JsonValue {
  // In any other state the agent waits for input of the caller.
  if (task.state !== 'completed') return stateOf(task)
  return toJsonValue(contentOf(task))
}

/** The artifacts of a task, or else its message. */
function contentOf({ artifacts, message }: A2aTask): ContentItem[] {
  const items = artifacts.flatMap((artifact) => artifact.items)
  return items.length > 0 ? items : message
}

function stateOf({ taskId, contextId, state, message }: A2aTask): JsonObject {
  return {
    taskId,
    status: state,
    ...(contextId && { sessionId: contextId }),
    ...(message.length > 0 && { message: toJsonValue(message) }),
  }
}

/** Translates a reply for a stream: results become plain parts, states and errors named events. */
export function toStreamParts(reply: A2aReply, hasResult: boolean): StreamPart[] {
  if (reply.kind === 'failure') return [{ event: 'error', data: reply.failure.value }]
  const { event } = reply
  if (event.kind === 'message' || event.kind === 'artifact') return [{ data: toJsonValue(event.items) }]
  const failure = failureOfTask(event)
  if (failure) return [{ event: 'error', data: failure.value }]
  if (event.state !== 'completed') return [{ event: 'status', data: stateOf(event) }]
  // A complete task at the end repeats what has been streamed.
  return hasResult || contentOf(event).length === 0 ? [] : [{ data: resultOf(event) }]
}

/** The id of the task that the agent is working on, if the reply names it. */
export const runningTaskIn = (reply: A2aReply): string | undefined =>
  reply.kind === 'event' && !isFinal(reply.event) ? reply.event.taskId : undefined

/** Whether no event can follow: a message, or a task that has ended or waits for the caller. */
export const isFinal = (event: A2aEvent): boolean =>
  event.kind === 'message' || (event.kind !== 'artifact' && !RUNNING.has(event.state))
