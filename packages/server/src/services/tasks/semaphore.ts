export interface SemaphoreSize {
  /** Most concurrent jobs. */
  readonly all: number
  /** Most concurrent jobs with the same key, so that one key cannot starve the others. */
  readonly each: number
}

/** Runs a job as soon as its key has a permit; returns undefined if the signal was aborted while it waited. */
export type Semaphore = <T>(key: string, job: () => Promise<T>, signal: AbortSignal) => Promise<T | undefined>

/** A semaphore with a limit for all jobs and one for each key. Waiting jobs start in the order in which they came. */
export function createSemaphore({ all, each }: SemaphoreSize): Semaphore {
  const running = new Map<string, number>()
  const waiting: { readonly key: string; readonly start: () => void }[] = []
  let free = all
  const hasPermit = (key: string): boolean => free > 0 && (running.get(key) ?? 0) < each
  const acquire = (key: string): void => {
    free--
    running.set(key, (running.get(key) ?? 0) + 1)
  }
  const release = (key: string): void => {
    free++
    const left = (running.get(key) ?? 1) - 1
    if (left === 0) running.delete(key)
    else running.set(key, left)
    const next = waiting.findIndex((job) => hasPermit(job.key))
    if (next === -1) return
    for (const job of waiting.splice(next, 1)) {
      acquire(job.key)
      job.start()
    }
  }
  return async (key, job, signal) => {
    if (hasPermit(key)) acquire(key)
    else await new Promise<void>((start) => waiting.push({ key, start }))
    try {
      return signal.aborted ? undefined : await job()
    } finally {
      release(key)
    }
  }
}
