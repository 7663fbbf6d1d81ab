import { isObject, type JsonObject, readProgress } from '@switchboard/protocol'
import type { ListedTask, StoredTask } from '../../store/task-store.js'
import type { Task } from './tasks.js'
import { isOpen } from './transitions.js'

/** Seconds between polls, if the agent suggests nothing. */
const POLL_INTERVAL = 2
const MAX_POLL_INTERVAL = 60

/** A stored task as its caller sees it; in lists without its answer. */
export function toTask(stored: ListedTask & Pick<StoredTask, 'answer'>): Task {
  const { id, status, agent, operation } = stored
  return {
    id,
    status,
    agent: agent.id,
    operation,
    pollInterval: pollIntervalOf(stored),
    document: toTaskDocument(stored),
  }
}

/** Seconds between polls: the agent's suggestion, within limits. */
export function pollIntervalOf({ agentTask }: ListedTask): number {
  const suggested: unknown = agentTask === undefined ? undefined : JSON.parse(agentTask).pollInterval
  if (typeof suggested !== 'number' || !(suggested > 0)) return POLL_INTERVAL
  return Math.min(MAX_POLL_INTERVAL, Math.max(1, Math.ceil(suggested)))
}

/** How far the agent's task is, if it says so. */
function progressOf({ agentTask }: ListedTask): JsonObject {
  const progress = agentTask === undefined ? undefined : readProgress(JSON.parse(agentTask))
  return progress ? { progress: { ...progress } } : {}
}

/** Status, times, and the result or the error once the task has ended (AURI §8). */
export function toTaskDocument(stored: ListedTask & Pick<StoredTask, 'answer'>): JsonObject {
  const { id, status, agent, operation, session, answer, callback, createdAt, updatedAt, expiresAt } = stored
  const ending: unknown = answer === undefined ? undefined : JSON.parse(answer)
  return {
    taskId: id,
    status,
    agent: agent.id,
    operation,
    ...(session !== undefined && { sessionId: session }),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    ...(isOpen(stored) && { pollInterval: pollIntervalOf(stored), ...progressOf(stored) }),
    ...(isObject(ending) && ending),
    ...(callback && { callback: { ...callback } }),
  }
}
