import { isStorable } from '../storable.js'
import {
  LIST_TASKS,
  requestAfter,
  TASK_CHANGES,
  TASK_COLUMNS,
  taskChanges,
  taskValues,
  toListedTask,
  toTask,
  WORK_PLACE,
} from '../task-rows.js'
import type { TaskStore } from '../task-store.js'
import type { Connection } from './connect.js'

export function createTaskStore({ query, transaction }: Connection): TaskStore {
  return {
    create: (task, { open, count, bytes }) =>
      transaction(async (write) => {
        // Replicas must not count the same tasks at the same time, and all find room.
        await write('SELECT pg_advisory_xact_lock(hashtextextended($1, 2))', [task.owner])
        const created = await write(INSERT, [...taskValues(task), open])
        if (created.length === 0) return false
        await write(TRIM, [task.owner, count, bytes])
        return true
      }),
    async trim(owner, { count, bytes }) {
      await query(TRIM, [owner, count, bytes])
    },
    async usage(owner) {
      const [row] = isStorable(owner) ? await query(USAGE, [owner]) : []
      return { open: Number(row?.open ?? 0), bytes: Number(row?.bytes ?? 0) }
    },
    async list(owner, limit) {
      return isStorable(owner) ? (await query(LIST_TASKS('$1', '$2'), [owner, limit])).map(toListedTask) : []
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

const INSERT = `
  INSERT INTO tasks (version, ${TASK_COLUMNS.join(', ')})
  SELECT 1, ${TASK_COLUMNS.map((name, i) => `$${i + 1}::${typeOf(name)}`).join(', ')}
  WHERE (SELECT count(*) FROM tasks WHERE owner = $${TASK_COLUMNS.indexOf('owner') + 1}
    AND status IN ('pending', 'running')) < $${TASK_COLUMNS.length + 1}
  RETURNING 1`

const TRIM = `
  DELETE FROM tasks WHERE id IN (
    SELECT id FROM (
      SELECT id, row_number() OVER newest AS place, sum(octet_length(answer)) OVER newest AS bytes
      FROM tasks WHERE owner = $1 AND work IS NULL WINDOW newest AS (ORDER BY updated_at DESC, id)) t
    WHERE place > $2 OR (place > 1 AND bytes > $3))`

const USAGE = `
  SELECT count(*) FILTER (WHERE status IN ('pending', 'running')) AS open, sum(octet_length(answer)) AS bytes
  FROM tasks WHERE owner = $1`

const UPDATE = `
  UPDATE tasks SET version = version + 1, ${TASK_CHANGES.map((name, i) => `${name} = $${i + 3}`).join(', ')},
  request = ${requestAfter(`$${WORK_PLACE + 3}::text`)}
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
