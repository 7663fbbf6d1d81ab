import { ExpiringMap } from '../expiring-map.js'
import type { Task, TaskStore } from './task.js'

/** Tasks at once; beyond them the oldest that has ended is forgotten, and if none has, no more are taken on. */
const MAX_TASKS = 1000
/** Characters of all their results together. */
const MAX_SIZE = 64 * 1024 * 1024

/** Keeps tasks in the memory of this process. */
export function createMemoryTaskStore({ now, max = MAX_TASKS }: { now: () => number; max?: number }): TaskStore {
  const tasks = new ExpiringMap<Task>({
    now,
    max,
    mayGo: ({ status }) => status !== 'running',
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
