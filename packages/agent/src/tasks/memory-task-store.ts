import { ExpiringMap } from '../expiring-map.js'
import type { Task, TaskStore } from './task.js'

/** Maximum number of tasks; the oldest finished one is evicted, and if none has finished, no more are accepted. */
const MAX_TASKS = 1000
/** Characters of all results. */
const MAX_SIZE = 64 * 1024 * 1024

/** Stores tasks in memory. */
export function createMemoryTaskStore({
  now,
  monotonic,
  max = MAX_TASKS,
}: {
  now: () => number
  monotonic: () => number
  max?: number
}): TaskStore {
  const tasks = new ExpiringMap<Task>({
    monotonic,
    max,
    isEvictable: ({ status }) => status !== 'running',
    sizeOf: ({ result = null }) => JSON.stringify(result).length,
    maxSize: MAX_SIZE,
  })
  return {
    async put(task) {
      return tasks.set(task.id, task, task.expiresAt - now())
    },
    async get(id) {
      return tasks.get(id)
    },
  }
}
