import type { TaskProgress } from '@switchboard/protocol'
import type { AdmittedCall } from '../call/admit.js'
import type { Value } from '../call/call.js'
import type { Performer } from '../call/perform.js'
import { AgentError, problemOf, toAgentError } from '../errors.js'
import type { Runtime } from '../runtime.js'
import type { Task, TaskStore } from './task.js'
import type { Webhook } from './webhook.js'

/** Milliseconds that a finished task is stored, and that a task may run. */
const RETENTION_MS = 3_600_000
const LONGEST_MS = 24 * 3_600_000

export interface TasksOptions {
  readonly runtime: Runtime
  readonly store: TaskStore
  readonly performer: Performer
  readonly webhook: Webhook
  readonly onError: (error: unknown) => void
}

/** The caller that reads a task. */
export interface TaskReader {
  readonly owner: string
  readonly sessionId?: string
}

/** Deferred calls; callers poll them or get a webhook. */
export interface Tasks {
  start(admitted: AdmittedCall, callbackUrl: string | undefined): Promise<Task>
  read(id: string, reader: TaskReader): Promise<Task>
  /** Aborts the task if it is still running. */
  cancel(id: string, reader: TaskReader): Promise<Task>
  close(): void
}

export function createTasks({ runtime, store, performer, webhook, onError }: TasksOptions): Tasks {
  /** Tasks that run in this process. */
  const running = new Map<string, AbortController>()
  const closing = new AbortController()

  const finish = async (task: Task, end: Partial<Task>, callbackUrl: string | undefined): Promise<Task> => {
    const now = runtime.now()
    let ended: Task = { ...task, ...end, updatedAt: now, expiresAt: now + RETENTION_MS }
    running.delete(task.id)
    if (!(await store.put(ended))) {
      const error = new AgentError('payload_too_large', 'the result is too large to store')
      const { result: _lost, ...rest } = ended
      ended = {
        ...rest,
        status: 'failed',
        error: problemOf(error, { instance: `/tasks/${task.id}`, requestId: task.id }),
      }
      await store.put(ended)
    }
    if (callbackUrl !== undefined) void webhook.notify(callbackUrl, ended, closing.signal)
    return ended
  }

  /** Stores the latest progress of a task, one write at a time; none comes after its end. */
  const keepProgress = (task: Task) => {
    let latest = task
    let writing: Promise<void> | undefined
    let isOver = false
    const write = async (): Promise<void> => {
      for (let written: Task | undefined; written !== latest && !isOver; ) {
        written = latest
        await store.put(written)
      }
      writing = undefined
    }
    return {
      onProgress(progress: TaskProgress) {
        latest = { ...task, progress, updatedAt: runtime.now() }
        if (!isOver) writing ??= write().catch(onError)
      },
      async settled() {
        isOver = true
        await writing
      },
    }
  }

  const work = async (task: Task, admitted: AdmittedCall, callbackUrl: string | undefined): Promise<void> => {
    const controller = new AbortController()
    running.set(task.id, controller)
    const { signal } = controller
    const { requestId } = admitted.call
    const { onProgress, settled } = keepProgress(task)
    try {
      const call = { ...admitted.call, taskId: task.id, signal, onProgress }
      const { value, metadata } = wholeOf(await performer.run({ ...admitted, call }).finally(settled))
      await finish(task, { status: 'completed', result: value, metadata }, callbackUrl)
    } catch (error) {
      if (signal.aborted && signal.reason === CANCELLED) {
        await finish(task, { status: 'cancelled' }, callbackUrl)
        return
      }
      const problem = problemOf(toAgentError(error), { instance: `/tasks/${task.id}`, requestId })
      await finish(task, { status: 'failed', error: problem }, callbackUrl)
    }
  }

  const find = async (id: string, { owner, sessionId }: TaskReader): Promise<Task> => {
    const task = await store.get(id)
    const isTheirs = task?.owner === owner && (sessionId === undefined || (task.sessionId ?? sessionId) === sessionId)
    if (!task || !isTheirs) throw new AgentError('not_found', 'you have no such task, or it has expired')
    return task
  }

  return {
    async start(admitted, callbackUrl) {
      const { capability, version, caller, sessionId } = admitted.call
      if (callbackUrl !== undefined) webhook.check(callbackUrl)
      const now = runtime.now()
      const task: Task = {
        id: runtime.newId(),
        status: 'running',
        capability: capability.name,
        version,
        owner: caller.client,
        ...(sessionId !== undefined && { sessionId }),
        createdAt: now,
        updatedAt: now,
        expiresAt: now + LONGEST_MS,
      }
      if (!(await store.put(task))) {
        throw new AgentError('unavailable', 'the agent has too many tasks: try again later', { retryAfter: 10 })
      }
      work(task, { ...admitted, call: { ...admitted.call, wantsStream: false } }, callbackUrl).catch(onError)
      return task
    },
    read: find,
    async cancel(id, reader) {
      const task = await find(id, reader)
      if (task.status !== 'running') return task
      const own = running.get(id)
      own?.abort(CANCELLED)
      // Tasks of other processes cannot be aborted from here.
      return own ? { ...task, status: 'cancelled', updatedAt: runtime.now() } : task
    },
    close() {
      closing.abort()
      for (const controller of running.values()) controller.abort(CANCELLED)
    },
  }
}

const CANCELLED = new AgentError('conflict', 'the task was cancelled')

function wholeOf(outcome: Awaited<ReturnType<Performer['run']>>): Value {
  if (outcome.kind === 'value') return outcome
  throw new AgentError('internal_error', 'a deferred call returned a stream')
}
