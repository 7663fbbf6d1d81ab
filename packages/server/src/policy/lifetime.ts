import { invalid } from '@switchboard/protocol'

/** Lifetime of a registration that asks for none, in seconds (AD §4.1). */
export const DEFAULT_LIFETIME = 86_400
const MIN_LIFETIME = 60
const MAX_LIFETIME = 4_294_967_295

/** The range is a rule of syntax, the maximum one of policy: past it a shorter lifetime is granted (C-39). */
export function grantLifetime(asked: string | undefined, maximum: number): number {
  if (asked === undefined) return Math.min(DEFAULT_LIFETIME, maximum)
  const seconds = /^\d{1,10}$/.test(asked) ? Number(asked) : Number.NaN
  if (!(seconds >= MIN_LIFETIME && seconds <= MAX_LIFETIME)) {
    throw invalid([{ at: '?lt', message: `must be a whole number of seconds from ${MIN_LIFETIME} to ${MAX_LIFETIME}` }])
  }
  return Math.min(seconds, maximum)
}
