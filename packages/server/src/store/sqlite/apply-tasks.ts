import { requestAfter, TASK_CHANGES, TASK_COLUMNS, toTask, WORK_PLACE } from '../task-rows.js'
import type { KeptTasks, StoredTask } from '../task-store.js'
import { prepare, rowsOf, type Sqlite } from './database.js'

export interface ApplyTasks {
  create(values: unknown[], limits: { owner: string; open: number } & KeptTasks): boolean
  trim(owner: string, kept: KeptTasks): boolean
  update(changes: unknown[], at: { id: string; version: number }): boolean
  claim(claim: { holder: string; at: number; until: number; limit: number }): StoredTask[]
  renew(renewal: { holder: string; ids: readonly string[]; until: number }): string[]
}

/** Writes tasks; needs an open transaction. */
export function createApplyTasks(db: Sqlite): ApplyTasks {
  const insert = prepare(
    db,
    `INSERT INTO tasks (version, ${TASK_COLUMNS.join(', ')}) SELECT 1, ${TASK_COLUMNS.map(() => '?').join(', ')}
     WHERE (SELECT count(*) FROM tasks WHERE owner = ? AND status IN ('pending', 'running')) < ?`,
  )
  const trim = prepare(
    db,
    `DELETE FROM tasks WHERE id IN (
       SELECT id FROM (
         SELECT id, row_number() OVER newest AS place, sum(octet_length(answer)) OVER newest AS bytes
         FROM tasks WHERE owner = ? AND work IS NULL WINDOW newest AS (ORDER BY updated_at DESC, id))
       WHERE place > ? OR (place > 1 AND bytes > ?))`,
  )
  const update = prepare(
    db,
    `UPDATE tasks SET version = version + 1, ${TASK_CHANGES.map((name) => `${name} = ?`).join(', ')},
     request = ${requestAfter('?')}
     WHERE id = ? AND version = ?`,
  )
  const selectFree = prepare(
    db,
    'SELECT * FROM tasks WHERE work IS NOT NULL AND held_until <= ? ORDER BY created_at, id LIMIT ?',
  )
  const hold = prepare(db, 'UPDATE tasks SET version = version + 1, holder = ?, held_until = ? WHERE id = ?')
  const renew = prepare(db, 'UPDATE tasks SET held_until = ? WHERE id = ? AND holder = ? AND work IS NOT NULL')

  return {
    create(values, { owner, open, count, bytes }) {
      if (insert.run([...values, owner, open]).changes === 0) return false
      trim.run([owner, count, bytes])
      return true
    },
    trim: (owner, { count, bytes }) => trim.run([owner, count, bytes]).changes > 0,
    update: (changes, { id, version }) => update.run([...changes, changes[WORK_PLACE], id, version]).changes > 0,
    claim({ holder, at, until, limit }) {
      return rowsOf(selectFree, [at, limit]).map((row) => {
        const task = toTask(row)
        hold.run([holder, until, task.id])
        return { ...task, version: task.version + 1, holder, heldUntil: until }
      })
    },
    renew: ({ holder, ids, until }) => ids.filter((id) => renew.run([until, id, holder]).changes > 0),
  }
}
