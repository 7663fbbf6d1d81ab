import { setTimeout as sleep } from 'node:timers/promises'
import { DirectoryError } from '@switchboard/protocol'
import type { AgentTask } from '../../gateway/gateway.js'
import type { KeptTasks, StoredTask, TaskStore } from '../../store/task-store.js'
import type { Delivery } from './callback.js'
import { pollIntervalOf } from './task-document.js'
import type { TaskRequest } from './task-request.js'
import type { TaskRunner, TaskStep } from './tasks.js'
import type { TaskTiming } from './timing.js'
import {
  accepted,
  type Cancellation,
  cancelAttemptsOf,
  failed,
  finished,
  givenUp,
  interrupted,
  notified,
  requeued,
  started,
  told,
} from './transitions.js'

/** A task that this process holds and works on. */
export interface HeldTask {
  task: StoredTask
  /** Milliseconds before the first step. */
  readonly delayMs: number
  /** Aborted when this process must stop working on the task. */
  readonly stop: AbortController
  /** Polls that failed in a row. */
  pollFailures: number
  /** Resolves when this process has stopped working on it. */
  done: Promise<void>
}

export interface AdvanceOptions {
  readonly store: TaskStore
  readonly now: () => number
  readonly open: (task: StoredTask) => TaskRequest | undefined
  /** Whether the agent is still registered under the same number. */
  readonly isSameAgent: (agent: StoredTask['agent']) => boolean
  /** The finished tasks of an owner that are kept. */
  readonly keptOf: (owner: string) => KeptTasks
  readonly callBack: (task: StoredTask, url: string, signal: AbortSignal) => Promise<Delivery>
  readonly onError: (error: unknown) => void
  readonly timing: TaskTiming
}

/** Performs the next step of a task; returns the milliseconds until the one after it, or undefined if it was the last. */
export type Advance = (entry: HeldTask, runner: TaskRunner) => Promise<number | undefined>

/** Polls that may fail in a row before the task fails. */
const MAX_POLL_FAILURES = 5
/** Most seconds before a retry, whatever the agent says: it may be available sooner. */
const MAX_RETRY_AFTER = 300
/** Attempts to tell an agent to stop its work, within somewhat more than a minute. */
const MAX_CANCELLATIONS = 5
/** Attempts to notify a webhook. */
const MAX_CALLBACKS = 8
/** Attempts to store a step, so that a result is not lost if the store is unavailable for some seconds. */
const MAX_SAVES = 8

export function createAdvance(options: AdvanceOptions): Advance {
  const { store, now, timing, onError } = options

  /** Stores a step; false if another process has changed the task meanwhile, and then this one drops it. */
  const save = async (entry: HeldTask, next: StoredTask): Promise<boolean> => {
    if (await retrying(() => store.update(next), timing.saveMs)) {
      entry.task = { ...next, version: next.version + 1 }
      if (next.work === undefined) await store.trim(next.owner, options.keptOf(next.owner)).catch(onError)
      return true
    }
    entry.stop.abort()
    return false
  }

  const advance: Advance = async (entry, runner) => {
    const { task, stop } = entry
    const request = options.open(task)
    // The webhook comes second, because it reports whether the agent could be told.
    if (task.work === 'notify' && cancelAttemptsOf(task) !== undefined) return cancelAtAgent(entry, request, runner)
    if (task.work === 'notify') return notify(entry, request?.callbackUrl)
    if (!request) return end(entry, interrupted(task, now()))
    if (!options.isSameAgent(task.agent)) return end(entry, failed(task, gone(task.agent.id), now()))
    if (task.expiresAt <= now()) return end(entry, givenUp(task, tooLong(), now()))
    if (task.work === 'poll') {
      const agentTask = agentTaskOf(task)
      return perform(entry, () => runner.poll(request.request, agentTask, stop.signal))
    }
    if (task.status === 'running' && !task.idempotent) return end(entry, interrupted(task, now()))
    if (!(await save(entry, started(task, now())))) return undefined
    // Stopped before the call was sent.
    if (stop.signal.aborted) return (await save(entry, requeued(entry.task, now()))) ? 0 : undefined
    return perform(
      entry,
      () => runner.run(request.request, stop.signal),
      (agentTask) =>
        // The task was cancelled or taken over by another process, which does not know of the agent's task.
        runner.cancel(request.request, agentTask, new AbortController().signal).catch(onError),
    )
  }

  const perform = async (
    entry: HeldTask,
    work: () => Promise<TaskStep>,
    onLost?: (task: AgentTask) => Promise<void>,
  ): Promise<number | undefined> => {
    let step: TaskStep
    try {
      step = await work()
    } catch (error) {
      return entry.stop.signal.aborted ? undefined : fail(entry, error)
    }
    entry.pollFailures = 0
    const { task } = entry
    switch (step.kind) {
      case 'done':
        return end(entry, finished(task, step.result, now()))
      case 'working': {
        const next = accepted(task, step.task, now())
        if (next.agentTask !== task.agentTask && !(await save(entry, next))) {
          await onLost?.(step.task)
          return undefined
        }
        return pollIntervalOf(next) * 1000
      }
      case 'later':
        if (task.work === 'run' && !(await save(entry, requeued(task, now())))) return undefined
        return Math.min(MAX_RETRY_AFTER, Math.max(1, step.retryAfter)) * 1000
    }
  }

  const fail = async (entry: HeldTask, error: unknown): Promise<number | undefined> => {
    const { task } = entry
    const isTemporary = !(error instanceof DirectoryError) || error.status > 500 || error.status === 429
    if (task.work === 'poll' && isTemporary && ++entry.pollFailures < MAX_POLL_FAILURES)
      return pollIntervalOf(task) * 1000
    if (error instanceof DirectoryError) {
      const fail = task.work === 'poll' && isTemporary ? givenUp : failed
      return end(entry, fail(task, error, now()))
    }
    onError(error)
    const hidden = new DirectoryError(
      'internal_error',
      'the directory failed: the operator can find the reason in the log',
    )
    return end(entry, failed(task, hidden, now()))
  }

  /** Ends a task; returns 0 if its webhook must be notified. */
  const end = async (entry: HeldTask, next: StoredTask): Promise<number | undefined> =>
    (await save(entry, next)) && next.work !== undefined ? 0 : undefined

  /** Asks the agent to stop; returns 0 if its webhook must be notified after that. */
  const cancelAtAgent = async (
    entry: HeldTask,
    request: TaskRequest | undefined,
    runner: TaskRunner,
  ): Promise<number | undefined> => {
    const { task, stop } = entry
    const attempts = (cancelAttemptsOf(task) ?? 0) + 1
    let state: Cancellation['state'] = 'failed'
    try {
      // Undefined: it was encrypted with a different secret.
      if (request) {
        await runner.cancel(request.request, agentTaskOf(task), stop.signal)
        state = 'confirmed'
      }
    } catch (error) {
      if (stop.signal.aborted) return undefined
      if (!(error instanceof DirectoryError)) onError(error)
      else if (error.code === 'not_invocable') state = 'refused'
      else if ((error.status >= 500 || error.status === 429) && attempts < MAX_CANCELLATIONS) state = 'waiting'
    }
    if (!(await save(entry, told(task, { state, attempts })))) return undefined
    if (state === 'waiting') return backoff(attempts)
    return entry.task.work === undefined ? undefined : 0
  }

  /** Milliseconds before the next attempt. With jitter, because many tasks may end at once and concern the same receiver. */
  const backoff = (attempts: number): number => timing.backoffMs * 2 ** (attempts - 1) * (0.8 + 0.4 * Math.random())

  const notify = async (entry: HeldTask, url: string | undefined): Promise<number | undefined> => {
    const { task, stop } = entry
    const attempts = (task.callback?.attempts ?? 0) + 1
    const delivery = url === undefined ? 'failed' : await options.callBack(task, url, stop.signal)
    if (stop.signal.aborted && delivery !== 'delivered') return undefined
    if (delivery === 'retry' && attempts < MAX_CALLBACKS) {
      const saved = await save(entry, { ...task, callback: { state: 'waiting', attempts } })
      return saved ? backoff(attempts) : undefined
    }
    await save(entry, notified(task, delivery === 'delivered' ? 'delivered' : 'failed', attempts))
    return undefined
  }

  return advance
}

/** The agent's own task, once it has accepted the work. */
const agentTaskOf = ({ agentTask }: StoredTask): AgentTask => JSON.parse(agentTask ?? '{}')

const gone = (id: string): DirectoryError =>
  new DirectoryError('not_found', `the agent "${id}" has been removed or registered anew`)

const tooLong = (): DirectoryError => new DirectoryError('timeout', 'the agent did not finish the work in time')

async function retrying<T>(work: () => Promise<T>, pauseMs: number): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === MAX_SAVES) throw error
      await sleep(pauseMs, undefined, { ref: false })
    }
  }
}
