import { strings } from '../../strings.js'

const { lease } = strings

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Below this, the remaining time is shown with its seconds. */
const SHORT = 2 * MINUTE

/** A time span in its two largest units, such as `3 h 12 min`. */
export function formatSpan(ms: number): string {
  const left = Math.ceil(Math.max(0, ms) / SECOND) * SECOND
  const parts = [
    { count: Math.floor(left / DAY), say: lease.days },
    { count: Math.floor(left / HOUR) % 24, say: lease.hours },
    { count: Math.floor(left / MINUTE) % 60, say: lease.minutes },
    { count: left >= SHORT ? 0 : (left % MINUTE) / SECOND, say: lease.seconds },
  ]
  const first = parts.findIndex(({ count }) => count > 0)
  if (first === -1) return lease.seconds(0)
  return parts
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ count, say }) => say(count))
    .join(' ')
}

/** Milliseconds after which the text about the remaining time changes. */
export const nextChange = (remainingMs: number): number =>
  remainingMs > DAY ? HOUR : remainingMs > SHORT ? MINUTE / 2 : SECOND

/** How much of a lifetime is left, from 0 to 1. */
export function shareLeft(from: number, to: number, now: number): number {
  return to <= from ? 0 : Math.min(1, Math.max(0, (to - now) / (to - from)))
}
