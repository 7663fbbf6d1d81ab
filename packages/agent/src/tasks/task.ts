import type { JsonObject, JsonValue, TaskProgress } from '@switchboard/protocol'

export type TaskStatus = 'running' | 'completed' | 'failed' | 'cancelled'

/** A deferred call (AURI §8, C-62). */
export interface Task {
  readonly id: string
  readonly status: TaskStatus
  readonly capability: string
  readonly version: string
  /** The only caller that may read it. */
  readonly owner: string
  readonly sessionId?: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  /** When a finished task may be deleted, and a running one is aborted. */
  readonly expiresAt: number
  /** What the handler last said about its progress. */
  readonly progress?: TaskProgress
  readonly result?: JsonValue
  readonly metadata?: JsonObject
  readonly error?: JsonObject
}

/** Stores tasks. With a shared store, other processes can serve them too. */
export interface TaskStore {
  /** False if the store is full. */
  put(task: Task): Promise<boolean>
  get(id: string): Promise<Task | undefined>
}

/** Seconds that callers should wait between polls. */
export const POLL_SECONDS = 1

/** A task as its caller sees it. */
export function toTaskDocument(task: Task): JsonObject {
  const { id, status, capability, version, sessionId, progress, result, metadata, error } = task
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
    ...(status === 'running' && { pollInterval: POLL_SECONDS, ...(progress && { progress: { ...progress } }) }),
    ...(result !== undefined && { result }),
    ...(metadata && { metadata }),
    ...(error && { error }),
  }
}
