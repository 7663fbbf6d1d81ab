import { editDistance, nearestOf } from '@switchboard/protocol/nearest'
import { UsageError } from '../usage.js'
import type { Options } from './command.js'

/** Largest share of letters that may differ between what was typed and what was probably meant. */
const MAX_DIFFERENCE = 0.4

/** `; did you mean "search"?`, if one of the known words is similar; else the advice. */
export function didYouMean(typed: string, known: Iterable<string>, advice: string): string {
  const nearest = nearestOf(typed, known)
  if (nearest === undefined) return `: ${advice}`
  const isSimilar = editDistance(typed, nearest) <= Math.max(1, MAX_DIFFERENCE * nearest.length)
  return isSimilar || nearest.startsWith(typed) ? `; did you mean ${nearest}?` : `: ${advice}`
}

/** Rewrites Node's message about an unknown option; other errors stay as they are. */
export function explainUnknownOption(error: unknown, name: string, options: Options): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')) return error
  const typed = /'(--?[^']*)'/.exec(error.message)?.[1] ?? ''
  const known = Object.entries(options).flatMap(([option, { isHidden }]) => (isHidden ? [] : [`--${option}`]))
  return new UsageError(
    `switchboard ${name} has no option ${typed}${didYouMean(typed, [...known, '--help'], `see switchboard ${name} --help`)}`,
  )
}
