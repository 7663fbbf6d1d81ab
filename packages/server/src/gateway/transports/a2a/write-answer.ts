import type { JsonObject, JsonValue, StreamPart } from '@switchboard/protocol'
import type { AgentResponse, Endpoint } from '../../gateway.js'
import { type AgentFailure, agentFailure, failureAnswer } from '../rpc/agent-error.js'
import { textOf, toJsonValue } from '../rpc/content.js'
import type { A2aReply } from './converse.js'
import type { A2aEvent, A2aTask } from './read-event.js'

/** States of a task that did not do what was asked. A2A gives them no HTTP status, so these are ours. */
const UNDONE: Record<string, { status: number; name: string } | undefined> = {
  failed: { status: 500, name: 'TaskFailed' },
  rejected: { status: 422, name: 'TaskRejected' },
  canceled: { status: 409, name: 'TaskCanceled' },
  'auth-required': { status: 401, name: 'AuthenticationRequired' },
}
const UNDER_WAY = new Set(['submitted', 'working'])

/** The answer that a reply is to a caller who waited for the whole of it. */
export function answerOf(reply: A2aReply, endpoint: Endpoint): AgentResponse {
  if (reply.kind === 'failure') return failureAnswer(reply.failure, endpoint)
  const { event } = reply
  const headers = sessionHeaders(event)
  if (event.kind === 'message' || event.kind === 'artifact') {
    return { kind: 'json', status: 200, value: toJsonValue(event.items), endpoint, headers }
  }
  if (UNDER_WAY.has(event.state)) {
    return { kind: 'task', status: 202, task: { id: event.taskId, status: event.state }, endpoint, headers }
  }
  const failure = failureOfTask(event)
  if (failure) return { ...failureAnswer(failure, endpoint), headers }
  return { kind: 'json', status: 200, value: resultOf(event), endpoint, headers }
}

/** With these the caller goes on where the agent stopped (C-63). */
function sessionHeaders({ contextId, taskId }: A2aEvent): Record<string, string> {
  return {
    ...(contextId && { 'x-session-id': headerSafe(contextId) }),
    ...(taskId && { 'x-task-id': headerSafe(taskId) }),
  }
}

/** An agent's word in a header of ours: nothing that could end the line or grow without bound. */
const headerSafe = (text: string): string => text.replace(/[^\x21-\x7e]/g, '').slice(0, 200)

function failureOfTask({ state, said }: A2aTask): AgentFailure | undefined {
  const undone = UNDONE[state]
  return undone && agentFailure(undone.status, undone.name, textOf(said) || `The task is ${state}`)
}

function resultOf(task: A2aTask): JsonValue {
  // Otherwise the agent waits for the caller: a question, not a result.
  if (task.state !== 'completed') return stateOf(task)
  return toJsonValue(task.artifacts.length > 0 ? task.artifacts : task.said)
}

function stateOf({ taskId, contextId, state, said }: A2aTask): JsonObject {
  return {
    taskId,
    status: state,
    ...(contextId && { sessionId: contextId }),
    ...(said.length > 0 && { message: toJsonValue(said) }),
  }
}

/** What of a reply is told on the caller's stream: results as plain parts, states and errors by their names. */
export function partsOf(reply: A2aReply, hasResult: boolean): StreamPart[] {
  if (reply.kind === 'failure') return [{ event: 'error', data: reply.failure.value }]
  const { event } = reply
  if (event.kind === 'message' || event.kind === 'artifact') return [{ data: toJsonValue(event.items) }]
  const failure = failureOfTask(event)
  if (failure) return [{ event: 'error', data: failure.value }]
  if (event.state !== 'completed') return [{ event: 'status', data: stateOf(event) }]
  // A task told whole at the end repeats what has been streamed.
  return hasResult || event.artifacts.length + event.said.length === 0 ? [] : [{ data: resultOf(event) }]
}

/** Nothing comes after it: a message, or a task that ended or waits for the caller. */
export const isLast = (event: A2aEvent): boolean =>
  event.kind === 'message' || (event.kind !== 'artifact' && !UNDER_WAY.has(event.state))
