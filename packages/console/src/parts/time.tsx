import type { ReactNode } from 'react'

/** A time as people here write it; the exact one is in the element. */
export function Time({ at }: { readonly at: unknown }): ReactNode {
  if (typeof at !== 'string') return '–'
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? (
    at
  ) : (
    <time dateTime={at}>{date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })}</time>
  )
}
