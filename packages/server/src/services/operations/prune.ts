import type { Context } from '../context.js'

const DAY_MS = 86_400_000
/** A replica that has been away for longer loads everything anew. */
const CHANGES_KEPT_DAYS = 7
/** How long an expired registration is told from one that never was, and an owner's marks are remembered. */
const TOMBSTONES_KEPT_DAYS = 30
const INTERVAL_MS = 3_600_000

/** Forgets, once an hour, what has been kept long enough. */
export function startPruning(
  context: Context,
  auditDays: number,
  onError: (error: unknown) => void,
): { stop: () => void } {
  const prune = (): void => {
    const now = context.now()
    context.store
      .prune({
        audit: now - auditDays * DAY_MS,
        tombstones: now - TOMBSTONES_KEPT_DAYS * DAY_MS,
        changes: now - CHANGES_KEPT_DAYS * DAY_MS,
        idempotency: now,
        tasks: now,
      })
      .catch(onError)
  }
  const timer = setInterval(prune, INTERVAL_MS)
  timer.unref()
  prune()
  return { stop: () => clearInterval(timer) }
}
