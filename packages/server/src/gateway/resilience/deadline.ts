import { type AgentCall, GatewayError } from '../gateway.js'

/** The signal of one call, aborted by its caller or by its timeout. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Milliseconds left for the whole call. */
  left(): number
  /** Replaces the timeout, counted from now: the response is a stream. */
  extend(ms: number): void
  /** Aborts the call with this error. */
  abort(error: GatewayError): void
  /** Stops the timer and stops listening to the caller's signal. */
  release(): void
}

/** Not `AbortSignal.any` and `.timeout`: they stay attached to the caller's signal until garbage collection. */
export function createDeadline(caller: AbortSignal, timeoutMs: number, monotonic: () => number): Deadline {
  const controller = new AbortController()
  const end = monotonic() + timeoutMs
  const cancel = (): void => controller.abort(new GatewayError('cancelled', 'the caller cancelled the call'))
  const expire = (): void => controller.abort(new GatewayError('timeout', 'the call timed out'))
  let timer = setTimeout(expire, timeoutMs)
  if (caller.aborted) cancel()
  else caller.addEventListener('abort', cancel)
  return {
    signal: controller.signal,
    abort: (error) => controller.abort(error),
    left: () => Math.max(0, Math.ceil(end - monotonic())),
    extend(ms) {
      clearTimeout(timer)
      timer = setTimeout(expire, ms)
    },
    release() {
      clearTimeout(timer)
      caller.removeEventListener('abort', cancel)
    },
  }
}

/**
 * Minimum idle timeout of the response to a call, in milliseconds. If the caller waits for the whole response, the
 * agent may be silent for as long as the call may take; only streams are bound by `silenceMs` alone.
 */
export const silenceLimitOf = ({ wantsStream, timeoutMs }: Pick<AgentCall, 'wantsStream' | 'timeoutMs'>): number =>
  wantsStream ? 0 : timeoutMs
