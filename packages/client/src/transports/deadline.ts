import { ClientError } from '../errors.js'

/** A time limit and the caller's own signal in one; its reason is always a ClientError. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Throws why the work has to end, if it has to. */
  check(): void
  /** From now on so many milliseconds. */
  extend(ms: number): void
  /** Time does not count until it is extended. */
  pause(): void
  /** Settles as the work does, or fails as soon as it has to end. */
  race<T>(work: Promise<T>): Promise<T>
  /** The work is done: no timer and no listener is left. */
  clear(): void
}

export function createDeadline(ms: number, what: string, caller?: AbortSignal): Deadline {
  const controller = new AbortController()
  const { signal } = controller
  const onCallerAborts = (): void => {
    const cause: unknown = caller?.reason
    // Of a limit within a limit, the outer one's own reason is what counts.
    const isOwn = cause instanceof ClientError
    controller.abort(isOwn ? cause : new ClientError('aborted', `${what} was given up by its caller`, { cause }))
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const extend = (next: number): void => {
    clearTimeout(timer)
    const onTimeout = (): void => controller.abort(new ClientError('timeout', `${what} took longer than ${next} ms`))
    timer = setTimeout(onTimeout, next)
  }
  if (caller?.aborted) onCallerAborts()
  else {
    caller?.addEventListener('abort', onCallerAborts)
    extend(ms)
  }
  return {
    signal,
    extend,
    pause: () => clearTimeout(timer),
    check: () => signal.throwIfAborted(),
    async race(work) {
      // Whoever loses the race may still fail later, and nobody is left to hear it.
      work.catch(() => {})
      let stop = (): void => {}
      const stopped = new Promise<never>((_resolve, reject) => {
        stop = () => reject(signal.reason)
        if (signal.aborted) stop()
        else signal.addEventListener('abort', stop)
      })
      try {
        return await Promise.race([work, stopped])
      } finally {
        signal.removeEventListener('abort', stop)
      }
    },
    clear() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', onCallerAborts)
    },
  }
}
