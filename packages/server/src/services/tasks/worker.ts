import { setTimeout as sleep } from 'node:timers/promises'
import type { StoredTask } from '../../store/task-store.js'
import { type AdvanceOptions, createAdvance, type Held } from './advance.js'
import { createSemaphore } from './semaphore.js'
import { interrupted, released } from './steps.js'
import type { TaskRunner } from './tasks.js'

/** Works on tasks: those it is given, and those that processes which are gone left behind. */
export interface TaskWorker {
  /** The name under which this process holds tasks. */
  readonly holder: string
  /** Until when a hold counts that is taken now. */
  heldUntil(): number
  /** Works on a task that is held under that name, after so many milliseconds. */
  take(task: StoredTask, delayMs?: number): void
  /** Lets go of a task that another end was written of. */
  drop(id: string): void
  start(runner: TaskRunner): void
  close(): Promise<void>
}

export interface TaskWorkerOptions extends AdvanceOptions {
  readonly holder: string
}

/** Work under way at once; more waits its turn. Calls may take minutes, which questions and webhooks do not wait for. */
const CALLS_AT_ONCE = { all: 128, each: 16 }
const OTHERS_AT_ONCE = { all: 64, each: 16 }
/** Tasks that one process holds; the rest waits in the store. */
const MAX_HELD = 2000

export function createTaskWorker(options: TaskWorkerOptions): TaskWorker {
  const { store, holder, now, timing, onError } = options
  const held = new Map<string, Held>()
  const advance = createAdvance(options)
  const calls = createSemaphore(CALLS_AT_ONCE)
  const others = createSemaphore(OTHERS_AT_ONCE)
  let runner: TaskRunner | undefined
  let closing = false
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()

  const work = async (entry: Held, given: TaskRunner): Promise<void> => {
    const { signal } = entry.stop
    try {
      for (let wait: number | undefined = entry.delayMs; wait !== undefined; ) {
        await sleep(wait, undefined, { signal, ref: false })
        const { work: kind, owner } = entry.task
        const turns = kind === 'run' ? calls : others
        wait = await turns(owner, () => advance(entry, given), signal)
      }
    } catch (error) {
      // A store that could not be asked: the hold runs out, and the task is taken up again.
      if (!signal.aborted) onError(error)
    } finally {
      if (!closing && held.get(entry.task.id) === entry) held.delete(entry.task.id)
    }
  }

  const take = (task: StoredTask, delayMs = 0): void => {
    if (closing) return
    const entry: Held = { task, delayMs, stop: new AbortController(), pollFailures: 0, done: Promise.resolve() }
    drop(task.id)
    held.set(task.id, entry)
    if (runner) entry.done = work(entry, runner)
  }

  /** Renews what is held, lets go of what is not any more, and takes over what nobody holds. */
  const look = async (): Promise<void> => {
    if (held.size > 0) {
      const ids = [...held.keys()]
      const kept = new Set(await store.renew(holder, ids, now() + timing.holdMs))
      // Of those that ended meanwhile nothing is left to drop.
      for (const id of ids) if (!kept.has(id)) drop(id)
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
      looking = look().catch(onError).finally(schedule)
    }, timing.lookMs)
    timer.unref()
  }

  /** A call that was broken off is not known to be undone; everything else can be taken up by the next start. */
  const letGo = async ({ task }: Held): Promise<void> => {
    if (task.work === undefined) return
    const isLost = task.work === 'run' && task.status === 'running' && !task.idempotent
    await store.update(released(isLost ? interrupted(task, now()) : task))
  }

  return {
    holder,
    heldUntil,
    take,
    drop,
    start(given) {
      runner = given
      for (const entry of held.values()) entry.done = work(entry, given)
      looking = look().catch(onError).finally(schedule)
    },
    async close() {
      closing = true
      clearTimeout(timer)
      await looking
      const entries = [...held.values()]
      const isCalling = ({ task }: Held): boolean => task.work === 'run' && task.status === 'running'
      for (const entry of entries) if (!isCalling(entry)) entry.stop.abort()
      const ended = Promise.all(entries.map(({ done }) => done))
      await Promise.race([ended, sleep(timing.closeMs, undefined, { ref: false })])
      for (const { stop } of entries) stop.abort()
      await Promise.race([ended, sleep(timing.closeMs / 5, undefined, { ref: false })])
      await Promise.all(entries.map((entry) => letGo(entry).catch(onError)))
      held.clear()
    },
  }
}
