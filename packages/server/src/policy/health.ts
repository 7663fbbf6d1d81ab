import type { JsonObject } from '@switchboard/protocol'

/** Whether an agent could be reached. Times are milliseconds since 1970. */
export interface Health {
  readonly state: 'reachable' | 'unreachable'
  /** Since when it has been in this state. */
  readonly since: number
  readonly checkedAt: number
  /** Failed checks since the last successful one, and the time of the first of them. */
  readonly failures: number
  readonly failingSince?: number
  /** Why the last check failed. */
  readonly reason?: FailedCheck
}

/** `down`: a proxy says that the agent does not respond; `silent`: nothing responds at its address. */
export type FailedCheck = 'down' | 'silent'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Failed checks in a row after which an agent counts as unreachable: a restart is over by then. */
const FAILURES = 2
/** Wait after the first failed check. */
const RETRY_MS = 2 * MINUTE_MS
/** Longest wait between checks of an agent that stays unreachable, unless the operator's interval is longer. */
const LONGEST_MS = DAY_MS
/** Share of a wait by which it is longer or shorter at random, so that checks do not come in bursts. */
const JITTER = 0.1
/** Score factor of an unreachable agent: it is still found, but loses against an equal match. */
const UNREACHABLE = 0.7

/** The health after a check. An agent that was never reached counts as reachable until it has failed often enough. */
export function afterHealthCheck(before: Health | undefined, result: 'reachable' | FailedCheck, now: number): Health {
  if (result === 'reachable') {
    const since = before?.state === 'reachable' ? before.since : now
    return { state: 'reachable', since, checkedAt: now, failures: 0 }
  }
  const failures = (before?.failures ?? 0) + 1
  const failingSince = before?.failingSince ?? now
  const isDown = failures >= FAILURES || before?.state === 'unreachable'
  const [state, since] = isDown
    ? (['unreachable', failingSince] as const)
    : (['reachable', before?.since ?? now] as const)
  return { state, since, checkedAt: now, failures, failingSince, reason: result }
}

/**
 * Milliseconds until the next check: the operator's interval, longer for an agent that stays unreachable.
 *
 * @param random from 0 to 1
 */
export function nextHealthCheck({ failures }: Health, intervalMs: number, random: number): number {
  const jitter = 1 + JITTER * (2 * random - 1)
  if (failures === 0) return intervalMs * jitter
  if (failures < FAILURES) return Math.min(RETRY_MS, intervalMs) * jitter
  const backOff = intervalMs * 2 ** Math.min(failures - FAILURES, 10)
  return Math.min(backOff, Math.max(LONGEST_MS, intervalMs)) * jitter
}

/** What everybody sees. `checked_at` is renewed once a day only, because every new value makes caches of lists useless. */
export function showHealth({ state, since }: Health, shownCheck: number): JsonObject {
  return { state, since: new Date(since).toISOString(), checked_at: new Date(shownCheck).toISOString() }
}

/** Whether the time of the last check should be shown anew. */
export const isShownAnew = (shown: { health: Health; checkedAt: number } | undefined, health: Health): boolean =>
  shown === undefined || shown.health.state !== health.state || health.checkedAt - shown.checkedAt >= DAY_MS

/** Score factor. */
export const availabilityOf = (health: Health | undefined): number =>
  health?.state === 'unreachable' ? UNREACHABLE : 1
