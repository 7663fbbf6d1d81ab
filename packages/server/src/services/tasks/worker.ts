import { setTimeout as sleep } from 'node:timers/promises'
import type { StoredTask } from '../../store/task-store.js'
import { type AdvanceOptions, createAdvance, type HeldTask } from './advance.js'
import { createSemaphore } from './semaphore.js'
import type { TaskRunner } from './tasks.js'
import { interrupted, released } from './transitions.js'

/** Works on tasks: new ones, and those that a stopped process has left. */
export interface TaskWorker {
  /** Identifies this process as the holder of tasks. */
  readonly holder: string
  /** Until when a task is held if this process takes it now; 0 if it takes no more. */
  heldUntil(): number
  /** Works on a task that this process holds, after a delay. */
  take(task: StoredTask, delayMs?: number): void
  /** Stops working on a task that was changed elsewhere. */
  drop(id: string): void
  start(runner: TaskRunner): void
  close(): Promise<void>
  /** Tasks that this process holds. */
  readonly size: number
}

export interface TaskWorkerOptions extends AdvanceOptions {
  readonly holder: string
}

/** Concurrent steps. Polls and webhooks have their own limit, so that they do not wait for calls, which may take minutes. */
const CALL_LIMITS = { all: 128, each: 16 }
const OTHER_LIMITS = { all: 64, each: 16 }
/** Most tasks that one process holds; the others wait in the store. */
const MAX_HELD = 2000

export function createTaskWorker(options: TaskWorkerOptions): TaskWorker {
  const { store, holder, now, timing, onError } = options
  const held = new Map<string, HeldTask>()
  const advance = createAdvance(options)
  const calls = createSemaphore(CALL_LIMITS)
  const others = createSemaphore(OTHER_LIMITS)
  let runner: TaskRunner | undefined
  let closing = false
  let timer: NodeJS.Timeout | undefined
  let renewing: Promise<void> = Promise.resolve()

  const work = async (entry: HeldTask, taskRunner: TaskRunner): Promise<void> => {
    const { signal } = entry.stop
    try {
      for (let wait: number | undefined = entry.delayMs; wait !== undefined; ) {
        await sleep(wait, undefined, { signal, ref: false })
        const { work: kind, owner } = entry.task
        const semaphore = kind === 'run' ? calls : others
        wait = await semaphore(owner, () => advance(entry, taskRunner), signal)
      }
    } catch (error) {
      // The store failed: the hold expires, and the task is claimed again.
      if (!signal.aborted) onError(error)
    } finally {
      if (!closing && held.get(entry.task.id) === entry) held.delete(entry.task.id)
    }
  }

  const take = (task: StoredTask, delayMs = 0): void => {
    if (closing) return
    const entry: HeldTask = { task, delayMs, stop: new AbortController(), pollFailures: 0, done: Promise.resolve() }
    drop(task.id)
    held.set(task.id, entry)
    if (runner) entry.done = work(entry, runner)
  }

  /** Renews the held tasks, drops those that were lost, and claims those that nobody holds. */
  const renewAndClaim = async (): Promise<void> => {
    if (held.size > 0) {
      const ids = [...held.keys()]
      const renewed = new Set(await store.renew(holder, ids, now() + timing.holdMs))
      // Dropping a task that has ended meanwhile does nothing.
      for (const id of ids) if (!renewed.has(id)) drop(id)
    }
    const limit = MAX_HELD - held.size
    if (limit <= 0 || closing) return
    const claimed = await store.claim({ holder, at: now(), until: heldUntil(), limit })
    if (!closing) for (const task of claimed) take(task)
  }

  const heldUntil = (): number => (closing || held.size >= MAX_HELD ? 0 : now() + timing.holdMs)

  const drop = (id: string): void => {
    held.get(id)?.stop.abort()
    held.delete(id)
  }

  const schedule = (): void => {
    if (closing) return
    timer = setTimeout(() => {
      renewing = renewAndClaim().catch(onError).finally(schedule)
    }, timing.renewMs)
    timer.unref()
  }

  /** Releases a task for the next start. A call that was interrupted may have run, so it fails unless it is idempotent. */
  const release = async ({ task }: HeldTask): Promise<void> => {
    if (task.work === undefined) return
    const isLost = task.work === 'run' && task.status === 'running' && !task.idempotent
    await store.update(released(isLost ? interrupted(task, now()) : task))
  }

  return {
    holder,
    heldUntil,
    take,
    drop,
    start(taskRunner) {
      runner = taskRunner
      for (const entry of held.values()) entry.done = work(entry, taskRunner)
      renewing = renewAndClaim().catch(onError).finally(schedule)
    },
    async close() {
      closing = true
      clearTimeout(timer)
      await renewing
      const entries = [...held.values()]
      const isCalling = ({ task }: HeldTask): boolean => task.work === 'run' && task.status === 'running'
      for (const entry of entries) if (!isCalling(entry)) entry.stop.abort()
      const ended = Promise.all(entries.map(({ done }) => done))
      await Promise.race([ended, sleep(timing.closeMs, undefined, { ref: false })])
      for (const { stop } of entries) stop.abort()
      await Promise.race([ended, sleep(timing.closeMs / 5, undefined, { ref: false })])
      await Promise.all(entries.map((entry) => release(entry).catch(onError)))
      held.clear()
    },
    get size() {
      return held.size
    },
  }
}
