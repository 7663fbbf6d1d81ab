import { setTimeout as sleep } from 'node:timers/promises'
import { type CancelSignal, toAbortSignal } from '../../../cancellation.js'
import { abortError } from '../../resilience/with-timeout.js'
import type { A2aReply } from './send-action.js'
import { runningTaskIn } from './to-response.js'

/** Milliseconds before the first poll. Each further one comes half as much later, because it costs the more the less is left. */
const FIRST_POLL_MS = 50
const MAX_POLL_MS = 2000

/**
 * Polls a running task for a caller who waits, until it ends or the time is up; then the last state is returned.
 *
 * @param poll sends one request for the state of the task
 */
export async function awaitTask(
  started: A2aReply,
  poll: () => Promise<A2aReply>,
  { waitMs, signal, monotonic }: { waitMs: number; signal: CancelSignal; monotonic: () => number },
): Promise<A2aReply> {
  const end = monotonic() + waitMs
  let reply = started
  for (let pause = FIRST_POLL_MS; runningTaskIn(reply) !== undefined && monotonic() + pause < end; ) {
    await sleep(pause, undefined, { signal: toAbortSignal(signal), ref: false }).catch(() => {
      throw abortError(signal, true)
    })
    reply = await poll()
    pause = Math.min(MAX_POLL_MS, pause * 1.5)
  }
  return reply
}
