import { ClientError } from '../errors.js'

/** Combines a timeout with the caller's abort signal. The abort reason is always a ClientError. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Throws the abort reason if the deadline has passed or the caller has aborted. */
  check(): void
  /** Restarts the timeout with this many milliseconds. */
  extend(ms: number): void
  /** Stops the timeout until `extend` is called. */
  pause(): void
  /** Settles with the work, or rejects with the abort reason, whichever comes first. */
  race<T>(work: Promise<T>): Promise<T>
  /** Removes the timer and the listener. Call it when the work is done. */
  clear(): void
}

/** `what` names the work in the error messages. */
export function createDeadline(ms: number, what: string, caller?: AbortSignal): Deadline {
  const controller = new AbortController()
  const { signal } = controller
  const onCallerAbort = (): void => {
    const cause: unknown = caller?.reason
    // Keep the reason of an outer deadline.
    const isOuterDeadline = cause instanceof ClientError
    controller.abort(isOuterDeadline ? cause : new ClientError('aborted', `${what} was aborted`, { cause }))
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const extend = (next: number): void => {
    clearTimeout(timer)
    const onTimeout = (): void => controller.abort(new ClientError('timeout', `${what} took longer than ${next} ms`))
    timer = setTimeout(onTimeout, next)
  }
  if (caller?.aborted) onCallerAbort()
  else {
    caller?.addEventListener('abort', onCallerAbort)
    extend(ms)
  }
  return {
    signal,
    extend,
    pause: () => clearTimeout(timer),
    check: () => signal.throwIfAborted(),
    async race(work) {
      // The work may still fail after it has lost the race: avoid an unhandled rejection.
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
      caller?.removeEventListener('abort', onCallerAbort)
    },
  }
}
