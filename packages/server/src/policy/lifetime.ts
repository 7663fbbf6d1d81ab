import { invalid } from '@switchboard/protocol'

/** Default lifetime of a registration, in seconds (AD §4.1). */
const DEFAULT_LIFETIME = 86_400
const MIN_LIFETIME = 60
const MAX_LIFETIME = 4_294_967_295

/** A value outside the draft's range is an error; above the operator's maximum, the maximum is granted (C-39). */
export function grantLifetime(requested: string | undefined, maximum: number): number {
  if (requested === undefined) return Math.min(DEFAULT_LIFETIME, maximum)
  const seconds = /^\d{1,10}$/.test(requested) ? Number(requested) : Number.NaN
  if (!(seconds >= MIN_LIFETIME && seconds <= MAX_LIFETIME)) {
    throw invalid([{ at: '?lt', message: `must be a whole number of seconds from ${MIN_LIFETIME} to ${MAX_LIFETIME}` }])
  }
  return Math.min(seconds, maximum)
}
