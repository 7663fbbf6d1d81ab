import { setTimeout as sleep } from 'node:timers/promises'
import { DirectoryError } from '@switchboard/protocol'
import type { AgentTask } from '../../gateway/gateway.js'
import type { StoredTask, TaskStore } from '../../store/task-store.js'
import type { Delivery } from './callback.js'
import { answered, begun, failed, interrupted, notified, putBack, takenOn } from './steps.js'
import { pollIntervalOf } from './task-document.js'
import type { TaskRequest } from './task-request.js'
import type { TaskRunner, TaskStep } from './tasks.js'
import type { TaskTiming } from './timing.js'

/** A task that this process works on. */
export interface Held {
  task: StoredTask
  /** Milliseconds before the first step. */
  readonly delayMs: number
  /** Aborted when the task is no longer this process's to work on. */
  readonly stop: AbortController
  /** Questions to the agent that failed one after another. */
  pollFailures: number
  /** Resolves when the work on it has ended. */
  done: Promise<void>
}

export interface AdvanceOptions {
  readonly store: TaskStore
  readonly now: () => number
  readonly open: (task: StoredTask) => TaskRequest | undefined
  /** Whether the agent that was asked is still the one of that name. */
  readonly isSameAgent: (agent: StoredTask['agent']) => boolean
  readonly callBack: (task: StoredTask, url: string, signal: AbortSignal) => Promise<Delivery>
  readonly onError: (error: unknown) => void
  readonly timing: TaskTiming
}

/** Does the next step of a task; returns milliseconds until the one after it, or undefined if there is none. */
export type Advance = (entry: Held, runner: TaskRunner) => Promise<number | undefined>

/** Questions to an agent that may fail one after another. */
const MAX_POLL_FAILURES = 5
/** Seconds before a call is tried again, whatever the agent says: it may be back sooner. */
const LONGEST_WAIT = 300
const MAX_CALLBACKS = 8
/** A result is not lost for a store that is away for some seconds. */
const MAX_SAVES = 8

export function createAdvance(options: AdvanceOptions): Advance {
  const { store, now, timing, onError } = options

  /** Stores a step; false, and the task is let go of, where another end was written meanwhile. */
  const save = async (entry: Held, next: StoredTask): Promise<boolean> => {
    if (await insist(() => store.update(next), timing.saveMs)) {
      entry.task = { ...next, version: next.version + 1 }
      return true
    }
    entry.stop.abort()
    return false
  }

  const advance: Advance = async (entry, runner) => {
    const { task, stop } = entry
    const request = options.open(task)
    if (task.work === 'notify') return notify(entry, request?.callbackUrl)
    if (!request) return end(entry, interrupted(task, now()))
    if (!options.isSameAgent(task.agent)) return end(entry, failed(task, gone(task.agent.id), now()))
    if (task.expiresAt <= now()) return end(entry, failed(task, tooLong(), now()))
    if (task.work === 'poll') {
      const agentTask: AgentTask = JSON.parse(task.agentTask ?? '{}')
      return settle(entry, () => runner.poll(request.request, agentTask, stop.signal))
    }
    if (task.status === 'running' && !task.idempotent) return end(entry, interrupted(task, now()))
    if (!(await save(entry, begun(task, now())))) return undefined
    // Stopped before anything was sent.
    if (stop.signal.aborted) return (await save(entry, putBack(entry.task, now()))) ? 0 : undefined
    return settle(entry, () => runner.run(request.request, stop.signal))
  }

  const settle = async (entry: Held, ask: () => Promise<TaskStep>): Promise<number | undefined> => {
    let step: TaskStep
    try {
      step = await ask()
    } catch (error) {
      return entry.stop.signal.aborted ? undefined : fail(entry, error)
    }
    entry.pollFailures = 0
    const { task } = entry
    switch (step.kind) {
      case 'done':
        return end(entry, answered(task, step.result, now()))
      case 'working': {
        const next = takenOn(task, step.task, now())
        if (next.agentTask !== task.agentTask && !(await save(entry, next))) return undefined
        return pollIntervalOf(next) * 1000
      }
      case 'later':
        if (task.work === 'run' && !(await save(entry, putBack(task, now())))) return undefined
        return Math.min(LONGEST_WAIT, Math.max(1, step.retryAfter)) * 1000
    }
  }

  const fail = async (entry: Held, error: unknown): Promise<number | undefined> => {
    const { task } = entry
    const passes = !(error instanceof DirectoryError) || error.status > 500 || error.status === 429
    if (task.work === 'poll' && passes && ++entry.pollFailures < MAX_POLL_FAILURES) return pollIntervalOf(task) * 1000
    if (error instanceof DirectoryError) return end(entry, failed(task, error, now()))
    onError(error)
    const told = new DirectoryError('internal_error', 'the directory failed; its operator can find the reason')
    return end(entry, failed(task, told, now()))
  }

  /** Ends a task; 0 where its webhook is to be told. */
  const end = async (entry: Held, next: StoredTask): Promise<number | undefined> =>
    (await save(entry, next)) && next.work !== undefined ? 0 : undefined

  const notify = async (entry: Held, url: string | undefined): Promise<number | undefined> => {
    const { task, stop } = entry
    const attempts = (task.callback?.attempts ?? 0) + 1
    const delivery = url === undefined ? 'refused' : await options.callBack(task, url, stop.signal)
    if (stop.signal.aborted && delivery !== 'delivered') return undefined
    if (delivery === 'again' && attempts < MAX_CALLBACKS) {
      const saved = await save(entry, { ...task, callback: { state: 'waiting', attempts } })
      // Spread out: many tasks may end at once, and wait for the same receiver.
      return saved ? timing.backoffMs * 2 ** (attempts - 1) * (0.8 + 0.4 * Math.random()) : undefined
    }
    await save(entry, notified(task, delivery === 'delivered' ? 'delivered' : 'failed', attempts))
    return undefined
  }

  return advance
}

const gone = (id: string): DirectoryError =>
  new DirectoryError('not_found', `the agent "${id}" is gone, or is another one now`)

const tooLong = (): DirectoryError => new DirectoryError('timeout', 'the agent did not finish the work in time')

async function insist<T>(work: () => Promise<T>, pauseMs: number): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === MAX_SAVES) throw error
      await sleep(pauseMs, undefined, { ref: false })
    }
  }
}
