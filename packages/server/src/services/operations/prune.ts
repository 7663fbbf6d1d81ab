import type { Context } from '../context.js'

const DAY_MS = 86_400_000
/** A replica that was offline for longer reloads everything. */
const CHANGES_KEPT_DAYS = 7
/** How long expired registrations are reported as such, and a returning owner gets back the operator's marks. */
const TOMBSTONES_KEPT_DAYS = 30
const INTERVAL_MS = 3_600_000

/** Deletes old data once an hour. */
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
