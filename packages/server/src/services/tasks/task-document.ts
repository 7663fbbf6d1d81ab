import { isObject, type JsonObject } from '@switchboard/protocol'
import type { StoredTask } from '../../store/task-store.js'
import { isOpen } from './steps.js'
import type { Task } from './tasks.js'

/** Seconds. */
const POLL_INTERVAL = 2
const LONGEST_POLL_INTERVAL = 60

/** A stored task as its caller sees it. */
export function toTask(stored: StoredTask): Task {
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

/** How often to ask: as the agent says, within reason. */
export function pollIntervalOf({ agentTask }: StoredTask): number {
  const said: unknown = agentTask === undefined ? undefined : JSON.parse(agentTask).pollInterval
  if (typeof said !== 'number' || !(said > 0)) return POLL_INTERVAL
  return Math.min(LONGEST_POLL_INTERVAL, Math.max(1, Math.ceil(said)))
}

/** Status, times, and then the result or the error (AURI §8). */
export function toTaskDocument(stored: StoredTask): JsonObject {
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
    ...(isOpen(stored) && { pollInterval: pollIntervalOf(stored) }),
    ...(isObject(ending) && ending),
    ...(callback && { callback: { ...callback } }),
  }
}
