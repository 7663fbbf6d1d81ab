import { Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** A past moment as people say it, such as `3 hours ago`. */
export function formatAgo(at: number, now: number): string {
  const [unit, ms] = UNITS.find(([, length]) => Math.abs(now - at) >= length) ?? ['second', 1000]
  const count = Math.round((at - now) / ms)
  return unit === 'second' ? RELATIVE.format(0, 'second') : RELATIVE.format(count, unit)
}

/** A moment relative to now, with the exact time for those who ask. */
export function TimeAgo({ at, say }: { readonly at: number; readonly say: (time: string) => string }): ReactNode {
  const exact = new Date(at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'medium' })
  return (
    <Tooltip label={exact}>
      <time dateTime={new Date(at).toISOString()}>{say(formatAgo(at, Date.now()))}</time>
    </Tooltip>
  )
}
