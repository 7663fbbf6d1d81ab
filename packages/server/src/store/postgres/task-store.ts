import { isStorable } from '../storable.js'
import { TASK_CHANGES, TASK_COLUMNS, taskChanges, taskValues, toTask } from '../task-rows.js'
import type { TaskStore } from '../task-store.js'
import type { Connection } from './connect.js'

export function createTaskStore({ query }: Connection): TaskStore {
  return {
    async create(task, { open, kept }) {
      const created = await query(INSERT, [...taskValues(task), open])
      if (created.length === 0) return false
      await query(DELETE_OLD, [task.owner, kept])
      return true
    },
    async get(id) {
      if (!isStorable(id)) return undefined
      const [row] = await query('SELECT * FROM tasks WHERE id = $1', [id])
      return row && toTask(row)
    },
    async update(task) {
      return (await query(UPDATE, [task.id, task.version, ...taskChanges(task)])).length > 0
    },
    async claim({ holder, at, until, limit }) {
      return (await query(CLAIM, [holder, at, until, limit])).map(toTask)
    },
    async renew(holder, ids, until) {
      const held = await query(
        'UPDATE tasks SET held_until = $3 WHERE id = ANY ($2) AND holder = $1 AND work IS NOT NULL RETURNING id',
        [holder, ids, until],
      )
      return held.map(({ id }) => String(id))
    },
  }
}

/** Replicas that create tasks at the same time may exceed the limit by a few, which is acceptable. */
const INSERT = `
  INSERT INTO tasks (version, ${TASK_COLUMNS.join(', ')})
  SELECT 1, ${TASK_COLUMNS.map((name, i) => `$${i + 1}::${typeOf(name)}`).join(', ')}
  WHERE (SELECT count(*) FROM tasks WHERE owner = $${TASK_COLUMNS.indexOf('owner') + 1}
    AND status IN ('pending', 'running')) < $${TASK_COLUMNS.length + 1}
  RETURNING 1`

const DELETE_OLD = `
  DELETE FROM tasks WHERE id IN (
    SELECT id FROM tasks WHERE owner = $1 AND work IS NULL ORDER BY updated_at DESC OFFSET $2)`

const UPDATE = `
  UPDATE tasks SET version = version + 1, ${TASK_CHANGES.map((name, i) => `${name} = $${i + 3}`).join(', ')}
  WHERE id = $1 AND version = $2 RETURNING 1`

/** Skips rows that another replica is claiming at the moment. */
const CLAIM = `
  UPDATE tasks SET version = version + 1, holder = $1, held_until = $3
  WHERE id IN (
    SELECT id FROM tasks WHERE work IS NOT NULL AND held_until <= $2
    ORDER BY created_at, id LIMIT $4 FOR UPDATE SKIP LOCKED)
  RETURNING *`

/** PostgreSQL cannot infer the types of parameters in a SELECT list. */
function typeOf(column: string): string {
  if (/_(at|until|number)$/.test(column)) return 'bigint'
  return column === 'repeatable' || column === 'callback_attempts' ? 'int' : 'text'
}
