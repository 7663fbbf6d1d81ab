// Apart from `agree`, so that programs which compare no versions do not contain semver.
import { coerceVersion, fitsVersion } from '../versions.js'
import { agree } from './agree.js'

/**
 * The version, or range of versions such as ">=1.0.0 <2.0.0", that all places ask for; of a range and a version within
 * it, the version.
 */
export const agreeOnVersion = (places: readonly (string | null | undefined)[]): string | undefined =>
  agree('version', places, { merge: narrower, spaces: true })

function narrower(a: string, b: string): string | undefined {
  const [x, y] = [coerceVersion(a), coerceVersion(b)]
  // "1.0" and "1.0.0" are the same version (C-24).
  if (a === b || (x !== undefined && x === y)) return a
  if (x !== undefined && y === undefined && fitsVersion(x, b)) return a
  if (y !== undefined && x === undefined && fitsVersion(y, a)) return b
  return undefined
}
