import { DirectoryError, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentTask } from '../../gateway/gateway.js'
import type { StoredTask } from '../../store/task-store.js'
import { errorObject } from '../calls/response/call-failed.js'
import type { TaskResult } from './tasks.js'

/** Milliseconds for which a result is stored. */
const RESULT_STORED_MS = 24 * 3_600_000
/** Most characters of a result as JSON; a larger one becomes an error. */
const MAX_RESULT = 1024 * 1024

/** Whether a task has not ended. */
export const isOpen = ({ status }: Pick<StoredTask, 'status'>): boolean => status === 'pending' || status === 'running'

/** The call is about to be sent: after a crash it is unknown whether the agent has done the work. */
export const started = (task: StoredTask, now: number): StoredTask => ({ ...task, status: 'running', updatedAt: now })

/** Nothing was sent; the call is retried later. */
export const requeued = (task: StoredTask, now: number): StoredTask => ({ ...task, status: 'pending', updatedAt: now })

/** The agent has accepted the work and is polled from now on. */
export const accepted = (task: StoredTask, agentTask: AgentTask, now: number): StoredTask => ({
  ...task,
  status: 'running',
  work: 'poll',
  agentTask: JSON.stringify(agentTask),
  updatedAt: now,
})

/** The agent has responded, with a result or an error. */
export function finished(task: StoredTask, { status, body }: TaskResult, now: number): StoredTask {
  if (status >= 400) return ended(task, 'failed', { httpStatus: status, error: errorIn(body) }, now)
  const outcome = { httpStatus: status, result: body }
  if (JSON.stringify(outcome).length > MAX_RESULT) {
    const message = `the result is larger than ${MAX_RESULT} characters of JSON: call the agent without deferring`
    return failed(task, new DirectoryError('payload_too_large', message), now)
  }
  return ended(task, 'completed', outcome, now)
}

/** The call has failed; the error is the one that the caller would have got without deferring. */
export const failed = (task: StoredTask, error: DirectoryError, now: number): StoredTask =>
  ended(task, 'failed', failureOf(error), now)

const failureOf = (error: DirectoryError): JsonObject => ({ httpStatus: error.status, error: errorObject(error) })

/** The process that sent the call has stopped, and it is unknown whether the agent has done the work. */
export const interrupted = (task: StoredTask, now: number): StoredTask =>
  ended(
    task,
    'failed',
    {
      error: {
        code: 'Interrupted',
        message:
          'the directory was stopped during the call, which may or may not have been carried out; ' +
          'send an Idempotency-Key if the call may be repeated',
      },
    },
    now,
  )

/** The caller has cancelled the task. The agent is told, if it has accepted the work. */
export function cancelled(task: StoredTask, now: number): StoredTask {
  if (task.agentTask !== undefined) return ended(task, 'cancelled', TO_CANCEL, now)
  // A call in progress is aborted, and the gateway does what its protocol allows.
  const wasSent = task.status === 'running'
  return ended(task, 'cancelled', wasSent ? { cancellation: { state: 'stopped' } } : {}, now)
}

/** The task has failed because it took too long or could not be polled; the agent is told that nobody waits any more. */
export const givenUp = (task: StoredTask, error: DirectoryError, now: number): StoredTask =>
  ended(task, 'failed', { ...failureOf(error), ...(task.agentTask !== undefined && TO_CANCEL) }, now)

/** Whether the agent was told to stop its work. */
export interface Cancellation {
  /**
   * `waiting`: not yet; `confirmed`: it has stopped, or had ended; `refused`: it goes on; `failed`: it could not be told.
   * `stopped`: it had not accepted the work as a task, and the call was aborted.
   */
  readonly state: 'waiting' | 'confirmed' | 'refused' | 'failed' | 'stopped'
  /** To tell the agent. */
  readonly attempts?: number
}

const TO_CANCEL = { cancellation: { state: 'waiting', attempts: 0 } } as const

/** How many attempts have been made to tell the agent to stop; undefined if the agent need not be told. */
export function cancelAttemptsOf({ status, answer }: StoredTask): number | undefined {
  const { cancellation } = status === 'completed' ? {} : outcomeOf(answer)
  if (!isObject(cancellation) || cancellation.state !== 'waiting') return undefined
  return typeof cancellation.attempts === 'number' ? cancellation.attempts : 0
}

/** The agent has been told to stop, or an attempt has failed. */
export function told(task: StoredTask, cancellation: Cancellation): StoredTask {
  const next = { ...task, answer: JSON.stringify({ ...outcomeOf(task.answer), cancellation }) }
  return hasNews(next) ? next : withoutWork(next)
}

function outcomeOf(answer: string | undefined): JsonObject {
  const outcome: unknown = answer === undefined ? undefined : JSON.parse(answer)
  return isObject(outcome) ? outcome : {}
}

/** Whether the agent or the webhook has yet to learn how the task ended. */
const hasNews = (task: StoredTask): boolean =>
  task.callback?.state === 'waiting' || cancelAttemptsOf(task) !== undefined

/** The webhook has been notified, or the attempts have been given up. */
export const notified = (task: StoredTask, state: 'delivered' | 'failed', attempts: number): StoredTask => ({
  ...withoutWork(task),
  callback: { state, attempts },
})

/** No process holds the task; any process may claim it. */
export const released = (task: StoredTask): StoredTask => {
  const { holder: _holder, ...rest } = task
  return { ...rest, heldUntil: 0 }
}

function ended(task: StoredTask, status: StoredTask['status'], outcome: JsonObject, now: number): StoredTask {
  const end = { status, answer: JSON.stringify(outcome), updatedAt: now, expiresAt: now + RESULT_STORED_MS }
  const next: StoredTask = { ...task, ...end, work: 'notify' }
  return hasNews(next) ? next : withoutWork(next)
}

/** Nothing is left to do, so the request, which may contain a credential, is deleted. */
function withoutWork(task: StoredTask): StoredTask {
  const { work: _work, ...rest } = released(task)
  return { ...rest, request: '' }
}

/** The agent's error object; an error in another form is not passed on (C-97). */
function errorIn(body: JsonValue): JsonObject {
  const { error } = isObject(body) ? body : {}
  return isObject(error) ? error : { code: 'AgentError', message: 'the agent returned an error' }
}
