import type { JsonObject, JsonValue, StreamPart } from '@switchboard/protocol'
import type { AgentResponse, Endpoint } from '../../gateway.js'
import { type AgentFailure, agentFailure, failureResponse } from '../rpc/agent-failure.js'
import { textOf, toJsonValue } from '../rpc/content.js'
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

/** Translates a reply for a caller that did not ask for a stream. */
export function toResponse(reply: A2aReply, endpoint: Endpoint): AgentResponse {
  if (reply.kind === 'failure') return failureResponse(reply.failure, endpoint)
  const { event } = reply
  const headers = sessionHeaders(event)
  if (event.kind === 'message' || event.kind === 'artifact') {
    return { kind: 'json', status: 200, value: toJsonValue(event.items), endpoint, headers }
  }
  if (RUNNING.has(event.state)) {
    return { kind: 'task', status: 202, task: { id: event.taskId, status: event.state }, endpoint, headers }
  }
  const failure = failureOfTask(event)
  if (failure) return { ...failureResponse(failure, endpoint), headers }
  return { kind: 'json', status: 200, value: resultOf(event), endpoint, headers }
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
  return toJsonValue(task.artifacts.length > 0 ? task.artifacts : task.message)
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
  return hasResult || event.artifacts.length + event.message.length === 0 ? [] : [{ data: resultOf(event) }]
}

/** Whether no event can follow: a message, or a task that has ended or waits for the caller. */
export const isFinal = (event: A2aEvent): boolean =>
  event.kind === 'message' || (event.kind !== 'artifact' && !RUNNING.has(event.state))
