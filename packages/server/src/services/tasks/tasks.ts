import { DirectoryError, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentTask } from '../../gateway/gateway.js'
import { type Caller, isAdmin } from '../../policy/caller.js'
import type { KeptTasks, StoredTask } from '../../store/task-store.js'
import { auditOf, type Context } from '../context.js'
import type { Seal } from '../identity/seal.js'
import type { Agent } from '../registry/catalog.js'
import type { Delivery } from './callback.js'
import { pollIntervalOf, toTask } from './task-document.js'
import { assertCallbackUrl, openRequest, sealRequest } from './task-request.js'
import { TASK_TIMING, type TaskTiming } from './timing.js'
import { cancelled, isOpen } from './transitions.js'
import { createTaskWorker } from './worker.js'

export type TaskStatus = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'

/** A deferred call as its caller sees it. */
export interface Task {
  readonly id: string
  readonly status: TaskStatus
  readonly agent: string
  readonly operation: string
  /** Seconds until the next poll is worthwhile. */
  readonly pollInterval: number
  /** The task as JSON: status, times, and its result or error once it has ended. */
  readonly document: JsonObject
}

/** A call to be sent later, or one that the agent itself has deferred. */
export interface NewTask {
  readonly agent: Agent
  readonly operation: string
  /** What the runner needs to send the call, also after a restart; stored encrypted. */
  readonly request: JsonObject
  /** Running it twice does no harm, so it is run again after a crash. */
  readonly idempotent: boolean
  readonly session?: string
  /** X-Callback-URL (C-62). */
  readonly callbackUrl?: string
  /** The agent's own task, if it has already accepted the work: it is polled until it ends. */
  readonly agentTask?: AgentTask
}

/** The response that the call would have had without deferring. From 400 on, the task has failed. */
export interface TaskResult {
  readonly status: number
  readonly body: JsonValue
}

/** The outcome of one step of a task. */
export type TaskStep =
  | { readonly kind: 'done'; readonly result: TaskResult }
  /** The agent is working on it and must be polled. */
  | { readonly kind: 'working'; readonly task: AgentTask }
  /** Nothing was sent, because the agent is busy or its circuit breaker is open: retry after so many seconds. */
  | { readonly kind: 'later'; readonly retryAfter: number }

/** Sends the calls of tasks. A DirectoryError that it throws becomes the error of the task. */
export interface TaskRunner {
  run(request: JsonObject, signal: AbortSignal): Promise<TaskStep>
  poll(request: JsonObject, task: AgentTask, signal: AbortSignal): Promise<TaskStep>
  /** Asks the agent to stop. Throws `not_invocable` if it refuses. */
  cancel(request: JsonObject, task: AgentTask, signal: AbortSignal): Promise<void>
}

/** Deferred calls (AURI §8, C-62), which survive a restart. */
export interface Tasks {
  /** Throws if the callback URL is not allowed; to be called before the call is sent. */
  checkCallback(url: string): void
  /** Creates a task; it is stored when the promise resolves. Throws `rate_limited` if the caller has too many. */
  create(task: NewTask, caller: Caller): Promise<Task>
  /** Throws `not_found` unless the caller created it, in this session if one is given. */
  read(id: string, caller: Caller, session?: string): Promise<Task>
  /** The caller's tasks that have changed last, newest first, without their results. */
  list(caller: Caller): Promise<readonly Task[]>
  /** Cancels the task at once, and the agent's work in the background; a task that has ended stays as it is. */
  cancel(id: string, caller: Caller, session?: string): Promise<Task>
  /** Starts working on new tasks and on those that a stopped process has left. */
  start(runner: TaskRunner): void
  /** Stops working; unfinished tasks continue after the next start. */
  close(): Promise<void>
  /** Tasks that this process is working on, or will poll. */
  readonly size: number
}

export interface TasksOptions {
  readonly context: Pick<Context, 'store' | 'catalog' | 'now' | 'newId'>
  /** Encrypts stored requests, which may contain credentials of callers. */
  readonly seal: Seal
  readonly callBack: (task: StoredTask, url: string, signal: AbortSignal) => Promise<Delivery>
  /** Throws GatewayError for an address that the gateway never calls. */
  readonly checkAddress: (url: URL) => void
  /** Most unfinished tasks of a subject. Default: `MAX_OPEN_TASKS`. */
  readonly maxOpenOf?: (subject: string) => number
  /** Most bytes of results that are kept for a subject. Default: `MAX_TASK_BYTES`. */
  readonly maxBytesOf?: (subject: string) => number
  readonly onError: (error: unknown) => void
  readonly timing?: TaskTiming
}

/** Most unfinished tasks of one subject, unless the operator sets another limit. */
export const MAX_OPEN_TASKS = 100
/** Most bytes of results that are kept for one subject, unless the operator sets another limit. */
export const MAX_TASK_BYTES = 256 * 1024 * 1024
/** Most finished tasks that are kept for one subject. */
const MAX_KEPT_TASKS = 200
/** Milliseconds after which an unfinished task fails. */
const MAX_TASK_MS = 24 * 3_600_000
/** Seconds after which one of many unfinished tasks may have ended. */
const RETRY_AFTER = 10
/** Attempts to update a task that another process updates at the same time. */
const MAX_ATTEMPTS = 10

export function createTasks(options: TasksOptions): Tasks {
  const { context, seal, callBack, checkAddress, onError, timing = TASK_TIMING } = options
  const { maxOpenOf = () => MAX_OPEN_TASKS, maxBytesOf = () => MAX_TASK_BYTES } = options
  const keptOf = (subject: string): KeptTasks => ({ count: MAX_KEPT_TASKS, bytes: maxBytesOf(subject) })
  const { catalog, now, newId } = context
  const store = context.store.tasks
  const worker = createTaskWorker({
    store,
    holder: newId(),
    now,
    open: (task) => openRequest(seal, task.id, task.request),
    isSameAgent: ({ id, number }) => catalog.get(id)?.number === number,
    keptOf,
    callBack,
    onError,
    timing,
  })

  const find = async (id: string, caller: Caller, session: string | undefined): Promise<StoredTask> => {
    const task = await store.get(id)
    const isOwn = caller.kind !== 'anonymous' && (task?.owner === caller.subject || isAdmin(caller))
    const isSameSession = session === undefined || task?.session === undefined || session === task.session
    if (!task || !isOwn || !isSameSession || (!isOpen(task) && task.expiresAt <= now())) throw unknownTask(id)
    return task
  }

  return {
    checkCallback: (url) => assertCallbackUrl(url, checkAddress),

    async create({ agent, operation, request, idempotent, session, callbackUrl, agentTask }, caller) {
      if (caller.subject === undefined) throw new DirectoryError('unauthorized', 'deferring a call needs credentials')
      const id = newId()
      const at = now()
      const task: StoredTask = {
        id,
        version: 1,
        owner: caller.subject,
        agent: { id: agent.record.id, number: agent.number },
        operation,
        ...(session !== undefined && { session }),
        status: agentTask ? 'running' : 'pending',
        work: agentTask ? 'poll' : 'run',
        request: sealRequest(seal, id, { request, ...(callbackUrl !== undefined && { callbackUrl }) }),
        idempotent,
        ...(agentTask && { agentTask: JSON.stringify(agentTask) }),
        ...(callbackUrl !== undefined && { callback: { state: 'waiting', attempts: 0 } }),
        holder: worker.holder,
        heldUntil: worker.heldUntil(),
        createdAt: at,
        updatedAt: at,
        expiresAt: at + MAX_TASK_MS,
      }
      const open = maxOpenOf(caller.subject)
      if (!(await store.create(task, { open, ...keptOf(caller.subject) }))) {
        throw new DirectoryError(
          'rate_limited',
          `you have ${open} unfinished tasks, the most that you may have: wait until some have ended`,
          {
            retryAfter: RETRY_AFTER,
          },
        )
      }
      // The agent has just said when to poll.
      if (task.heldUntil > 0) worker.take(task, agentTask && pollIntervalOf(task) * 1000)
      return toTask(task)
    },

    read: async (id, caller, session) => toTask(await find(id, caller, session)),

    list: async ({ subject }) =>
      subject === undefined ? [] : (await store.list(subject, MAX_KEPT_TASKS + maxOpenOf(subject))).map(toTask),
    async cancel(id, caller, session) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const task = await find(id, caller, session)
        if (!isOpen(task)) return toTask(task)
        const next = cancelled(task, now())
        const held = next.work ? { ...next, holder: worker.holder, heldUntil: worker.heldUntil() } : next
        if (!(await store.update(held))) continue
        worker.drop(id)
        if (held.work && held.heldUntil > 0) worker.take({ ...held, version: held.version + 1 })
        const audit = auditOf(caller, 'task.cancel', now(), {
          agent: task.agent.id,
          detail: id,
          before: { status: task.status },
          after: { status: held.status },
        })
        await context.store.appendAudit([audit])
        return toTask(held)
      }
      throw new DirectoryError('unavailable', 'the task was changed by others at the same time: try again', {
        retryAfter: 1,
      })
    },

    start: worker.start,
    close: worker.close,
    get size() {
      return worker.size
    },
  }
}

const unknownTask = (id: string): DirectoryError => new DirectoryError('not_found', `there is no task "${id}"`)
