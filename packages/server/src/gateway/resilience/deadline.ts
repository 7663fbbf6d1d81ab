import { Cancellation, type CancelSignal } from '../../cancellation.js'
import { type AgentCall, GatewayError } from '../gateway.js'

/** The signal of one call, aborted by its caller or by its timeout. */
export class Deadline extends Cancellation {
  readonly #caller: CancelSignal
  readonly #monotonic: () => number
  readonly #end: number
  readonly #cancel = (): void => this.abort(new GatewayError('cancelled', 'the caller cancelled the call'))
  #timer: NodeJS.Timeout

  constructor(caller: CancelSignal, timeoutMs: number, monotonic: () => number) {
    super()
    this.#caller = caller
    this.#monotonic = monotonic
    this.#end = monotonic() + timeoutMs
    this.#timer = setTimeout(expire, timeoutMs, this)
    if (caller.aborted) this.#cancel()
    else caller.addEventListener('abort', this.#cancel)
  }

  /** Milliseconds left for the whole call. */
  left(): number {
    return Math.max(0, Math.ceil(this.#end - this.#monotonic()))
  }

  /** Replaces the timeout, counted from now: the response is a stream. */
  extend(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(expire, ms, this)
  }

  /** Stops the timer and stops listening to the caller's signal. */
  release(): void {
    clearTimeout(this.#timer)
    this.#caller.removeEventListener('abort', this.#cancel)
  }
}

function expire(deadline: Deadline): void {
  deadline.abort(new GatewayError('timeout', 'the call timed out'))
}

/**
 * Minimum idle timeout of the response to a call, in milliseconds. If the caller waits for the whole response, the
 * agent may be silent for as long as the call may take; only streams are bound by `silenceMs` alone.
 */
export const silenceLimitOf = ({ wantsStream, timeoutMs }: Pick<AgentCall, 'wantsStream' | 'timeoutMs'>): number =>
  wantsStream ? 0 : timeoutMs
