import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk'
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server'
import { ExpiringMap } from '../expiring-map.js'

/** Maximum number of tasks, and milliseconds that they are stored. */
const MAX_TASKS = 200
const RETENTION_MS = 3_600_000
const MAX_PAGE = 100

interface StoredTask {
  readonly owner: string
  readonly task: Task
}

/** Stores the tasks of A2A callers, who see only their own. The SDK's store never evicts. */
export function createA2aTaskStore(monotonic: () => number): TaskStore {
  const tasks = new ExpiringMap<StoredTask>({ monotonic, max: MAX_TASKS })
  const keyOf = (id: string, context: ServerCallContext): string => JSON.stringify([ownerOf(context), id])
  return {
    async save(task, context) {
      tasks.set(keyOf(task.id, context), { owner: ownerOf(context), task }, RETENTION_MS)
    },
    async load(id, context) {
      return tasks.get(keyOf(id, context))?.task
    },
    async list(request: ListTasksRequest, context): Promise<ListTasksResponse> {
      const owner = ownerOf(context)
      const own = [...tasks.values()].filter((stored) => stored.owner === owner).map(({ task }) => task)
      const { contextId, status, pageToken } = request
      const matching = own.filter(
        (task) => (!contextId || task.contextId === contextId) && (!status || task.status?.state === status),
      )
      const pageSize = Math.min(request.pageSize || 50, MAX_PAGE)
      const start = /^\d+$/.test(pageToken) ? Number(pageToken) : 0
      const end = start + pageSize
      const nextPageToken = end < matching.length ? String(end) : ''
      return { tasks: matching.slice(start, end), nextPageToken, pageSize, totalSize: matching.length }
    },
  }
}

const ownerOf = ({ user }: ServerCallContext): string => user?.userName ?? ''
