import type { Row } from './rows.js'
import { requireStorable } from './storable.js'
import type { ListedTask, StoredTask } from './task-store.js'

/** Columns that never change, except that the request is deleted when nothing is left to do; then those that change. */
const FIXED = ['id', 'owner', 'agent', 'agent_number', 'operation', 'session', 'request', 'repeatable', 'created_at']
const CHANGING = [
  'status',
  'work',
  'agent_task',
  'answer',
  'callback_state',
  'callback_attempts',
  'holder',
  'held_until',
  'updated_at',
  'expires_at',
]

/** All columns except the version, in the order of `taskValues`. */
export const TASK_COLUMNS: readonly string[] = [...FIXED, ...CHANGING]
/** The columns that an update sets, in the order of `taskChanges`. */
export const TASK_CHANGES: readonly string[] = CHANGING
/** The place of the column `work` among them. */
export const WORK_PLACE = CHANGING.indexOf('work')

/** The request of an updated task. It may contain a credential and be large, so it is neither kept nor written again. */
export const requestAfter = (work: string): string => `CASE WHEN ${work} IS NULL THEN '' ELSE request END`

export function taskValues(task: StoredTask): unknown[] {
  const { id, owner, agent, operation, session, request, idempotent, createdAt } = task
  requireStorable(id, owner, agent.id, operation, session)
  const fixed = [id, owner, agent.id, agent.number, operation, session, request, idempotent ? 1 : 0, createdAt]
  return [...fixed, ...taskChanges(task)]
}

export function taskChanges(task: StoredTask): unknown[] {
  const { status, work, agentTask, answer, callback, holder, heldUntil, updatedAt, expiresAt } = task
  return [status, work, agentTask, answer, callback?.state, callback?.attempts, holder, heldUntil, updatedAt, expiresAt]
}

const STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const
const WORKS = ['run', 'poll', 'notify'] as const
const CALLBACK_STATES = ['waiting', 'delivered', 'failed'] as const

export const toTask = (row: Row): StoredTask => ({
  ...toListedTask(row),
  request: String(row.request),
  ...(typeof row.answer === 'string' && { answer: row.answer }),
})

export function toListedTask(row: Row): ListedTask {
  const work = WORKS.find((known) => known === row.work)
  const state = CALLBACK_STATES.find((known) => known === row.callback_state)
  return {
    id: String(row.id),
    version: Number(row.version),
    owner: String(row.owner),
    agent: { id: String(row.agent), number: Number(row.agent_number) },
    operation: String(row.operation),
    ...(typeof row.session === 'string' && { session: row.session }),
    status: STATUSES.find((known) => known === row.status) ?? 'failed',
    ...(work && { work }),
    idempotent: Number(row.repeatable) === 1,
    ...(typeof row.agent_task === 'string' && { agentTask: row.agent_task }),
    ...(state && { callback: { state, attempts: Number(row.callback_attempts) } }),
    ...(typeof row.holder === 'string' && { holder: row.holder }),
    heldUntil: Number(row.held_until),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    expiresAt: Number(row.expires_at),
  }
}

/** Selects the tasks of an owner for `toListedTask`. */
export const LIST_TASKS = (owner: string, limit: string): string =>
  `SELECT version, ${TASK_COLUMNS.filter((name) => name !== 'request' && name !== 'answer').join(', ')}
   FROM tasks WHERE owner = ${owner} ORDER BY updated_at DESC, id LIMIT ${limit}`
