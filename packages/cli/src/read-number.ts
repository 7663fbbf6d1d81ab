import { UsageError } from './usage.js'

/** Parses a flag that is a whole number within bounds; undefined if the flag is not given. */
export function readNumber(
  flag: string,
  text: string | undefined,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new UsageError(`${flag} must be a whole number from ${least} to ${most}, not "${text}"`)
}
