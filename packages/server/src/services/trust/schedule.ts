import { setTimeout as sleep } from 'node:timers/promises'

/** Work that is repeated in the background until it is stopped. */
export interface Schedule {
  start(): void
  /** Aborts the work in progress and gives it a moment to end. */
  stop(): Promise<void>
}

/** Milliseconds that aborted work has to end: a stop of the server must not wait for somebody else's host. */
const STOP_MS = 500

/** Runs the work again and again, with a pause between the end of one run and the next. */
export function createSchedule(
  work: (signal: AbortSignal) => Promise<void>,
  pauseMs: number,
  onError: (error: unknown) => void,
): Schedule {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()

  const next = (): void => {
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      running = work(stopping.signal).catch(onError).finally(next)
    }, pauseMs)
    timer.unref()
  }

  return {
    start: next,
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await Promise.race([running, sleep(STOP_MS)])
    },
  }
}
