import { DirectoryError, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentTask } from '../../gateway/gateway.js'
import { type Caller, isAdmin } from '../../policy/caller.js'
import type { StoredTask } from '../../store/task-store.js'
import { auditOf, type Context } from '../context.js'
import type { Seal } from '../identity/seal.js'
import type { Agent } from '../registry/catalog.js'
import type { Delivery } from './callback.js'
import { cancelled, isOpen } from './steps.js'
import { pollIntervalOf, toTask } from './task-document.js'
import { assertCallbackUrl, openRequest, sealRequest } from './task-request.js'
import { TASK_TIMING, type TaskTiming } from './timing.js'
import { createTaskWorker } from './worker.js'

export type TaskStatus = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'

/** What a caller is told of its deferred call. */
export interface Task {
  readonly id: string
  readonly status: TaskStatus
  readonly agent: string
  readonly operation: string
  /** Seconds until it is worth asking again. */
  readonly pollInterval: number
  /** The task as JSON: status, times, and then its result or error. */
  readonly document: JsonObject
}

/** A call to be made later, or one that the agent itself has put off. */
export interface NewTask {
  readonly agent: Agent
  readonly operation: string
  /** All that the runner needs to make the call, now or after a restart; kept encrypted. */
  readonly request: JsonObject
  /** Running it twice does no harm: after a crash it is run again. */
  readonly idempotent: boolean
  readonly session?: string
  /** X-Callback-URL, as it came (C-62). */
  readonly callbackUrl?: string
  /** Where the agent has taken the work on already: asked for until it is done. */
  readonly agentTask?: AgentTask
}

/** The response that the call would have had without deferring. From 400 on, the task has failed. */
export interface TaskResult {
  readonly status: number
  readonly body: JsonValue
}

/** How far a call has come. */
export type TaskStep =
  | { readonly kind: 'done'; readonly result: TaskResult }
  /** The agent works on it and is to be asked again. */
  | { readonly kind: 'working'; readonly task: AgentTask }
  /** Nothing was begun, the agent is busy or left alone for now: try again in so many seconds. */
  | { readonly kind: 'later'; readonly retryAfter: number }

/** Makes the calls of tasks. A DirectoryError that is thrown becomes the error of the task. */
export interface TaskRunner {
  run(request: JsonObject, signal: AbortSignal): Promise<TaskStep>
  poll(request: JsonObject, task: AgentTask, signal: AbortSignal): Promise<TaskStep>
  cancel(request: JsonObject, task: AgentTask): Promise<void>
}

/** Deferred calls (AURI §8, C-62): kept in the store, so that they outlive the process. */
export interface Tasks {
  /** Throws for a callback that is not allowed: before anything is begun. */
  checkCallback(url: string): void
  /** Takes a call on: durable when it resolves. Refuses a subject with too many. */
  create(task: NewTask, caller: Caller): Promise<Task>
  /** For the caller who made it, in its session if one is named; nobody else learns that it exists. */
  read(id: string, caller: Caller, session?: string): Promise<Task>
  /** Ends it, and the agent's work; of a task that is over nothing changes. */
  cancel(id: string, caller: Caller, session?: string): Promise<Task>
  /** Begins to work: on what is new, and on what a process that is gone left behind. */
  start(runner: TaskRunner): void
  /** Leaves what can go on later to the next start. */
  close(): Promise<void>
}

export interface TasksOptions {
  readonly context: Pick<Context, 'store' | 'catalog' | 'now' | 'newId'>
  /** What calls need is kept encrypted: it may hold callers' credentials. */
  readonly seal: Seal
  readonly callBack: (task: StoredTask, url: string, signal: AbortSignal) => Promise<Delivery>
  /** Throws GatewayError for an address that will never be called. */
  readonly checkAddress: (url: URL) => void
  readonly onError: (error: unknown) => void
  readonly timing?: TaskTiming
}

/** Tasks of one subject: unfinished ones at most, and finished ones that are kept. */
const LIMITS = { open: 100, kept: 200 }
/** Milliseconds after which a task is given up. */
const LONGEST_TASK_MS = 24 * 3_600_000
/** Seconds after which an unfinished one of many may be over. */
const RETRY_AFTER = 10
/** Another process may be writing the same task. */
const MAX_ATTEMPTS = 10

export function createTasks(options: TasksOptions): Tasks {
  const { context, seal, callBack, checkAddress, onError, timing = TASK_TIMING } = options
  const { catalog, now, newId } = context
  const store = context.store.tasks
  const worker = createTaskWorker({
    store,
    holder: newId(),
    now,
    open: (task) => openRequest(seal, task.id, task.request),
    isSameAgent: ({ id, number }) => catalog.get(id)?.number === number,
    callBack,
    onError,
    timing,
  })
  let runner: TaskRunner | undefined

  const find = async (id: string, caller: Caller, session: string | undefined): Promise<StoredTask> => {
    const task = await store.get(id)
    const isTheirs = caller.kind !== 'anonymous' && (task?.owner === caller.subject || isAdmin(caller))
    const isHere = session === undefined || task?.session === undefined || session === task.session
    if (!task || !isTheirs || !isHere || (!isOpen(task) && task.expiresAt <= now())) throw unknownTask(id)
    return task
  }

  /** The agent may not be there to hear it: the task is over all the same. */
  const cancelAtAgent = ({ id, request, agentTask }: StoredTask): void => {
    const opened = openRequest(seal, id, request)
    if (!opened || agentTask === undefined) return
    runner?.cancel(opened.request, JSON.parse(agentTask)).catch(onError)
  }

  return {
    checkCallback: (url) => assertCallbackUrl(url, checkAddress),

    async create({ agent, operation, request, idempotent, session, callbackUrl, agentTask }, caller) {
      if (caller.subject === undefined) throw new DirectoryError('unauthorized', 'deferred calls take credentials')
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
        expiresAt: at + LONGEST_TASK_MS,
      }
      if (!(await store.create(task, LIMITS))) {
        throw new DirectoryError('rate_limited', `${LIMITS.open} of your tasks are unfinished: wait for some of them`, {
          retryAfter: RETRY_AFTER,
        })
      }
      // An agent that has just said how long it takes is not asked before.
      if (task.heldUntil > 0) worker.take(task, agentTask && pollIntervalOf(task) * 1000)
      return toTask(task)
    },

    read: async (id, caller, session) => toTask(await find(id, caller, session)),

    async cancel(id, caller, session) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const task = await find(id, caller, session)
        if (!isOpen(task)) return toTask(task)
        const next = cancelled(task, now())
        const mine = next.work ? { ...next, holder: worker.holder, heldUntil: worker.heldUntil() } : next
        if (!(await store.update(mine))) continue
        worker.drop(id)
        if (mine.work && mine.heldUntil > 0) worker.take({ ...mine, version: mine.version + 1 })
        cancelAtAgent(task)
        await context.store.appendAudit([auditOf(caller, 'task.cancel', now(), { agent: task.agent.id, detail: id })])
        return toTask(mine)
      }
      throw new DirectoryError('unavailable', 'the task is changing too fast: try again', { retryAfter: 1 })
    },

    start(given) {
      runner = given
      worker.start(given)
    },
    close: worker.close,
  }
}

const unknownTask = (id: string): DirectoryError => new DirectoryError('not_found', `there is no task "${id}"`)
