import type { CancelSignal } from '../../cancellation.js'
import { GatewayError } from '../gateway.js'

/** Runs work that has no caller to wait for it with a signal that aborts after so many milliseconds. */
export async function withTimeout<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => {
    controller.abort(new GatewayError('timeout', `the agent did not respond within ${ms} ms`, { mayHaveRun: true }))
  }, ms)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for shared work until the signal is aborted; the work itself continues for the others. */
export async function unlessAborted<T>(work: Promise<T>, signal: CancelSignal): Promise<T> {
  let stop = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(abortError(signal, false))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** The error of a request whose signal was aborted. */
export function abortError({ reason }: CancelSignal, mayHaveRun: boolean): GatewayError {
  const [code, message] =
    reason instanceof GatewayError ? [reason.code, reason.message] : (['cancelled', 'the caller cancelled'] as const)
  return new GatewayError(code, message, { mayHaveRun, cause: reason })
}
