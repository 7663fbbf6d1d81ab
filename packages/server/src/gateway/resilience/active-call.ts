import type { CancelSignal } from '../../cancellation.js'
import type { Release } from './concurrency-limit.js'
import { Deadline } from './deadline.js'

/** The calls in progress. */
export interface ActiveCalls {
  /** Starts the deadline of a call, and keeps it until the call has finished. */
  begin(caller: string | undefined, signal: CancelSignal, timeoutMs: number): ActiveCall
  /** Aborts those that are chosen. */
  abort(isChosen: (call: ActiveCall) => boolean, reason: unknown): void
}

/**
 * A list, not a set: with a member added and removed for each call, a set replaces its table again and again, and V8 keeps
 * what was in an old table until the next major collection if the table is old enough.
 */
export function createActiveCalls(monotonic: () => number): ActiveCalls {
  const list: ActiveCall[] = []
  return {
    begin: (caller, signal, timeoutMs) => new ActiveCall(list, caller, signal, timeoutMs, monotonic),
    abort(isChosen, reason) {
      // A copy: whoever finishes leaves the list.
      for (const call of list.filter(isChosen)) call.abort(reason)
    },
  }
}

/** The deadline of a call and its slot. It lives as long as a stream, and must not refer to the input. */
export class ActiveCall extends Deadline {
  readonly caller: string | undefined
  readonly #list: ActiveCall[]
  #index: number
  #releaseSlot: Release | undefined

  constructor(
    list: ActiveCall[],
    caller: string | undefined,
    signal: CancelSignal,
    timeoutMs: number,
    monotonic: () => number,
  ) {
    super(signal, timeoutMs, monotonic)
    this.caller = caller
    this.#list = list
    this.#index = list.length
    list.push(this)
    // Ends a stream that nobody reads, too.
    this.addEventListener('abort', () => this.finish())
  }

  /** Keeps a slot until the call has finished. */
  hold(release: Release): void {
    this.#releaseSlot = release
    if (this.aborted) this.finish()
  }

  /** Frees the slot and stops the deadline; has no effect the second time. */
  finish(): void {
    this.#releaseSlot?.()
    this.#releaseSlot = undefined
    this.release()
    if (this.#index < 0) return
    const last = this.#list.pop()
    if (last && last !== this) {
      this.#list[this.#index] = last
      last.#index = this.#index
    }
    this.#index = -1
  }
}
