import { DirectoryError, errorBody, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentTask } from '../../gateway/gateway.js'
import type { StoredTask } from '../../store/task-store.js'
import type { TaskResult } from './tasks.js'

/** Milliseconds that a result is kept for its caller. */
const RESULT_KEPT_MS = 24 * 3_600_000
/** Characters of JSON; a larger result is told as an error. */
const LARGEST_RESULT = 1024 * 1024

export const isOpen = ({ status }: StoredTask): boolean => status === 'pending' || status === 'running'

/** From now on the agent may have begun: a crash is no longer without trace. */
export const begun = (task: StoredTask, now: number): StoredTask => ({ ...task, status: 'running', updatedAt: now })

/** Nothing was begun after all. */
export const putBack = (task: StoredTask, now: number): StoredTask => ({ ...task, status: 'pending', updatedAt: now })

/** The agent has taken the work on. */
export const takenOn = (task: StoredTask, agentTask: AgentTask, now: number): StoredTask => ({
  ...task,
  status: 'running',
  work: 'poll',
  agentTask: JSON.stringify(agentTask),
  updatedAt: now,
})

/** The answer is there: a result, or what the agent says went wrong. */
export function answered(task: StoredTask, { status, body }: TaskResult, now: number): StoredTask {
  if (status >= 400) return ended(task, 'failed', { httpStatus: status, error: errorIn(body) }, now)
  const answer = { httpStatus: status, result: body }
  if (JSON.stringify(answer).length > LARGEST_RESULT) {
    const message = `the result is larger than ${LARGEST_RESULT} characters of JSON: call the agent without deferring`
    return failed(task, new DirectoryError('payload_too_large', message), now)
  }
  return ended(task, 'completed', answer, now)
}

/** The error as a caller who waited would have got it. */
export function failed(task: StoredTask, error: DirectoryError, now: number): StoredTask {
  const body = errorBody(error, { base: '', instance: '', correlationId: '' })
  return ended(task, 'failed', { httpStatus: error.status, error: errorIn(body) }, now)
}

/** The process that made the call is gone, and whether the agent has done the work nobody knows. */
export const interrupted = (task: StoredTask, now: number): StoredTask =>
  ended(
    task,
    'failed',
    {
      error: {
        code: 'Interrupted',
        message:
          'the directory was stopped during the call, which may or may not have been carried out; ' +
          'send an Idempotency-Key where calls may be repeated',
      },
    },
    now,
  )

export const cancelled = (task: StoredTask, now: number): StoredTask => ended(task, 'cancelled', {}, now)

/** The webhook was told, or is not told any more. */
export const notified = (task: StoredTask, state: 'delivered' | 'failed', attempts: number): StoredTask => ({
  ...atRest(task),
  callback: { state, attempts },
})

/** What is left to do is told to whoever comes next. */
export const released = (task: StoredTask): StoredTask => {
  const { holder: _holder, ...rest } = task
  return { ...rest, heldUntil: 0 }
}

function ended(task: StoredTask, status: StoredTask['status'], answer: JsonObject, now: number): StoredTask {
  const over = { status, answer: JSON.stringify(answer), updatedAt: now, expiresAt: now + RESULT_KEPT_MS }
  if (task.callback?.state === 'waiting') return { ...task, ...over, work: 'notify' }
  return { ...atRest(task), ...over }
}

/** Nothing is left to do: what the call was made of, a caller's credential among it, is not kept any longer. */
function atRest(task: StoredTask): StoredTask {
  const { work: _work, ...rest } = released(task)
  return { ...rest, request: '' }
}

/** An agent's error in AIDIP's form; what has another form is not passed on (C-97). */
function errorIn(body: JsonValue): JsonObject {
  const { error } = isObject(body) ? body : {}
  return isObject(error) ? error : { code: 'AgentError', message: 'the agent answered with an error' }
}
