import { constants, setPriority } from 'node:os'
import { type ModelProcess, startModelProcess } from './start-model-process.js'

/** Milliseconds without work after which the processes end, because each has the model in memory. */
const IDLE_MS = 20_000
/** Milliseconds to load the model, and without a response: with low priority, everything takes as long as others need the cores. */
const LOAD_MS = 300_000
const FROZEN_MS = 60_000

/** Processes that run a model while there is a backlog, with low priority: they take what others leave of the cores. */
export interface BacklogProcesses {
  /** How many are ready. */
  readonly ready: number
  /** Starts them if they are not running. */
  start(): void
  /** Runs the model in the process that has least to do; one must be ready. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>
  close(): Promise<void>
}

export interface BacklogProcessesOptions {
  readonly folder: string
  readonly count: number
  /** Ends the loading of the model. */
  readonly signal: AbortSignal
  /** Milliseconds without work after which they end. Default: 20,000. */
  readonly idleMs?: number
}

interface Running {
  readonly model: ModelProcess
  requests: number
}

export function createBacklogProcesses(options: BacklogProcessesOptions): BacklogProcesses {
  const { folder, count, signal, idleMs = IDLE_MS } = options
  const running = new Set<Running>()
  let starting: Promise<unknown> | undefined
  let idle: NodeJS.Timeout | undefined

  const stop = async (): Promise<void> => {
    const models = [...running]
    running.clear()
    await Promise.all(models.map(({ model }) => model.close()))
  }

  const stopIfIdle = (): void => {
    if ([...running].some(({ requests }) => requests > 0)) restartIdleTimer()
    else void stop()
  }

  const restartIdleTimer = (): void => {
    clearTimeout(idle)
    idle = setTimeout(stopIfIdle, idleMs).unref()
  }

  const startOne = async (): Promise<void> => {
    const onExit = (): void => {
      for (const each of running) if (each.model === model) running.delete(each)
    }
    let model: ModelProcess | undefined
    const onSpawn = (pid: number): void => setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
    model = await startModelProcess(folder, { onExit, onSpawn, frozenMs: FROZEN_MS, loadMs: LOAD_MS, signal })
    running.add({ model, requests: 0 })
    restartIdleTimer()
  }

  return {
    get ready() {
      return running.size
    },
    start() {
      if (starting || running.size === count || signal.aborted) return
      const missing = Array.from({ length: count - running.size }, startOne)
      // Without them the work takes longer; the next backlog tries again.
      starting = Promise.allSettled(missing).finally(() => {
        starting = undefined
      })
    },
    async embed(texts) {
      const [least] = [...running].sort((a, b) => a.requests - b.requests)
      if (!least) throw new Error('no process is ready')
      least.requests++
      restartIdleTimer()
      try {
        return await least.model.embed(texts)
      } finally {
        least.requests--
      }
    },
    async close() {
      clearTimeout(idle)
      await starting
      await stop()
    },
  }
}
