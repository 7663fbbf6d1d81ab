import { isStorable } from '../storable.js'
import { LIST_TASKS, taskChanges, taskValues, toListedTask, toTask } from '../task-rows.js'
import type { TaskStore } from '../task-store.js'
import { prepare, type Read, rowOf, rowsOf, type Sqlite } from './database.js'
import type { Writer } from './start-writer.js'

export function createTaskStore(db: Sqlite, read: Read, writer: Writer): TaskStore {
  const select = prepare(db, 'SELECT * FROM tasks WHERE id = ?')
  const usage = prepare(
    db,
    `SELECT count(*) FILTER (WHERE status IN ('pending', 'running')) AS open, sum(octet_length(answer)) AS bytes
     FROM tasks WHERE owner = ?`,
  )
  const list = prepare(db, LIST_TASKS('?', '?'))
  const selectFree = prepare(db, 'SELECT 1 AS it FROM tasks WHERE work IS NOT NULL AND held_until <= ? LIMIT 1')
  return {
    async create(task, limits) {
      return writer.run('createTask', { values: taskValues(task), owner: task.owner, ...limits })
    },
    async trim(owner, kept) {
      await writer.run('trimTasks', { owner, ...kept })
    },
    usage: (owner) =>
      read(() => {
        const row = rowOf(usage, [owner])
        return { open: Number(row?.open), bytes: Number(row?.bytes ?? 0) }
      }),
    list: (owner, limit) => read(() => rowsOf(list, [owner, limit]).map(toListedTask)),
    get: (id) =>
      read(() => {
        const row = isStorable(id) ? rowOf(select, [id]) : undefined
        return row && toTask(row)
      }),
    update: (task) => writer.run('updateTask', { changes: taskChanges(task), id: task.id, version: task.version }),
    async claim(claim) {
      // Workers poll often and mostly find nothing, so read first to spare the writer thread.
      const found = await read(() => rowOf(selectFree, [claim.at]))
      return found ? writer.run('claimTasks', claim) : []
    },
    renew: (holder, ids, until) => writer.run('renewTasks', { holder, ids, until }),
  }
}
