import type { CancelSignal } from '../../cancellation.js'
import { abortError, unlessAborted } from './with-timeout.js'

/** A request whose effect at the agent can only be undone once its result is known. */
export interface Undoable<T> {
  /** Calls `onSent` when the agent may have received the request. */
  readonly work: (signal: AbortSignal, onSent: () => void) => Promise<T>
  /** Milliseconds that the request may go on after an abort, if it was sent so many milliseconds ago. */
  readonly graceMs: (sentMsAgo: number) => number
  /** Called with a result that came after the abort; if it is a stream, that is closed. */
  readonly undo: (result: T) => void
}

/**
 * Runs an undoable request. If the signal is aborted, it rejects at once; a request that was sent goes on in the
 * background for its grace period, and is undone. A stream that it returned ends with the signal.
 */
export type RunUndoable = <T>(signal: CancelSignal, undoable: Undoable<T>) => Promise<T>

export interface UndoableOptions {
  readonly monotonic: () => number
  /** Most requests that go on in the background; further ones are cut short. Default: 256. */
  readonly max?: number
}

export function createRunUndoable({ monotonic, max = 256 }: UndoableOptions): RunUndoable {
  let pending = 0

  const finishLater = <T>(
    working: Promise<T>,
    { undo }: Pick<Undoable<T>, 'undo'>,
    abort: () => void,
    graceMs: number,
  ): void => {
    const isCutShort = graceMs <= 0 || pending >= max
    if (isCutShort) abort()
    const timer = isCutShort ? undefined : setTimeout(abort, graceMs)
    timer?.unref()
    pending++
    working
      .then(undo)
      .catch(() => {}) // nobody waits for it
      .finally(() => {
        clearTimeout(timer)
        abort()
        pending--
      })
  }

  return async (signal, undoable) => {
    if (signal.aborted) throw abortError(signal, false)
    const inner = new AbortController()
    let sentAt: number | undefined
    const working = undoable.work(inner.signal, () => {
      sentAt ??= monotonic()
    })
    try {
      const result = await unlessAborted(working, signal)
      follow(inner, signal)
      return result
    } catch (error) {
      if (!signal.aborted) throw error
      const graceMs = sentAt === undefined ? 0 : undoable.graceMs(monotonic() - sentAt)
      finishLater(working, undoable, () => inner.abort(signal.reason), graceMs)
      throw abortError(signal, sentAt !== undefined)
    }
  }
}

/** Not in the function above: the listener lives as long as a stream and must not keep the input of the request. */
function follow(inner: AbortController, outer: CancelSignal): void {
  if (outer.aborted) inner.abort(outer.reason)
  else outer.addEventListener('abort', () => inner.abort(outer.reason))
}
