import { GatewayError } from '../gateway.js'

/** The signal of one call: its caller, or its time, ends it. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Milliseconds left of the whole call. */
  left(): number
  /** The answer streams: from now on another limit counts. */
  extend(ms: number): void
  /** Ends it as its caller would. */
  cancel(): void
  /** It is over; nothing is left behind on the caller's signal. */
  release(): void
}

/** AbortSignal.any and .timeout would stay on a caller's signal until they are collected. */
export function createDeadline(caller: AbortSignal, timeoutMs: number, now: () => number): Deadline {
  const controller = new AbortController()
  const end = now() + timeoutMs
  const cancel = (): void => controller.abort(new GatewayError('cancelled', 'the caller gave the call up'))
  const expire = (): void => controller.abort(new GatewayError('timeout', 'the call took too long'))
  let timer = setTimeout(expire, timeoutMs)
  if (caller.aborted) cancel()
  else caller.addEventListener('abort', cancel)
  return {
    signal: controller.signal,
    cancel,
    left: () => Math.max(0, end - now()),
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
