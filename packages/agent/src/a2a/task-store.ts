import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk'
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server'
import { ExpiringMap } from '../expiring-map.js'

/** Tasks that can be asked for, and milliseconds that they can; a caller sees only its own. */
const MAX_TASKS = 200
const KEPT_MS = 3_600_000
const MAX_PAGE = 100

interface Kept {
  readonly owner: string
  readonly task: Task
}

/** Keeps the tasks of A2A callers; the SDK's own store forgets nothing. */
export function createA2aTaskStore(now: () => number): TaskStore {
  const tasks = new ExpiringMap<Kept>({ now, max: MAX_TASKS })
  const keyOf = (id: string, context: ServerCallContext): string => JSON.stringify([ownerOf(context), id])
  return {
    async save(task, context) {
      tasks.set(keyOf(task.id, context), { owner: ownerOf(context), task }, KEPT_MS)
    },
    async load(id, context) {
      return tasks.get(keyOf(id, context))?.task
    },
    async list(request: ListTasksRequest, context): Promise<ListTasksResponse> {
      const owner = ownerOf(context)
      const own = [...tasks.values()].filter((kept) => kept.owner === owner).map(({ task }) => task)
      const { contextId, status, pageToken } = request
      const fitting = own.filter(
        (task) => (!contextId || task.contextId === contextId) && (!status || task.status?.state === status),
      )
      const pageSize = Math.min(request.pageSize || 50, MAX_PAGE)
      const start = /^\d+$/.test(pageToken) ? Number(pageToken) : 0
      const end = start + pageSize
      const nextPageToken = end < fitting.length ? String(end) : ''
      return { tasks: fitting.slice(start, end), nextPageToken, pageSize, totalSize: fitting.length }
    },
  }
}

const ownerOf = ({ user }: ServerCallContext): string => user?.userName ?? ''
