import type { JsonObject, JsonValue } from '@switchboard/protocol'

export type TaskStatus = 'running' | 'completed' | 'failed' | 'cancelled'

/** Work that was taken on to be answered later (AURI §8, C-62). */
export interface Task {
  readonly id: string
  readonly status: TaskStatus
  readonly capability: string
  readonly version: string
  /** Whose it is: nobody else may ask for it. */
  readonly owner: string
  readonly sessionId?: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  /** When it may be forgotten; while it runs, when it is given up. */
  readonly expiresAt: number
  readonly result?: JsonValue
  readonly metadata?: JsonObject
  readonly error?: JsonObject
}

/** Where tasks are kept; another process can answer for them if they lie in something that it shares. */
export interface TaskStore {
  /** False if there is no room. */
  put(task: Task): Promise<boolean>
  get(id: string): Promise<Task | undefined>
}

/** Seconds between two questions after a task. */
export const POLL_SECONDS = 1

/** A task as its caller sees it. */
export function toTaskDocument(task: Task): JsonObject {
  const { id, status, capability, version, sessionId, result, metadata, error } = task
  const time = (ms: number): string => new Date(ms).toISOString()
  return {
    taskId: id,
    status,
    operation: capability,
    version,
    ...(sessionId !== undefined && { sessionId }),
    createdAt: time(task.createdAt),
    updatedAt: time(task.updatedAt),
    expiresAt: time(task.expiresAt),
    ...(status === 'running' && { pollInterval: POLL_SECONDS }),
    ...(result !== undefined && { result }),
    ...(metadata && { metadata }),
    ...(error && { error }),
  }
}
