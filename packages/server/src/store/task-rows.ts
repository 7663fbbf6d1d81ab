import type { Row } from './rows.js'
import { requireStorable } from './storable.js'
import type { StoredTask } from './task-store.js'

/** Columns that never change, then those that do. */
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

export function toTask(row: Row): StoredTask {
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
    request: String(row.request),
    idempotent: Number(row.repeatable) === 1,
    ...(typeof row.agent_task === 'string' && { agentTask: row.agent_task }),
    ...(typeof row.answer === 'string' && { answer: row.answer }),
    ...(state && { callback: { state, attempts: Number(row.callback_attempts) } }),
    ...(typeof row.holder === 'string' && { holder: row.holder }),
    heldUntil: Number(row.held_until),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    expiresAt: Number(row.expires_at),
  }
}
