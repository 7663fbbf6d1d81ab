import { invalid } from '../errors.js'
import { coerceVersion, fitsVersion } from '../versions.js'

export interface AgreeOptions {
  /** The value that satisfies both; undefined if they contradict each other. By default they must be equal. */
  readonly merge?: (a: string, b: string) => string | undefined
  /** Whether a value may contain spaces. */
  readonly spaces?: boolean
}

/**
 * The value of an identifier that a caller may send in several places: header, query, path, body or frame (C-63).
 * It may travel in a header, so it must be visible ASCII.
 *
 * @throws {DirectoryError} `invalid_request` if two places differ, because choosing one silently could run the wrong call
 */
export function agree(
  name: string,
  places: readonly (string | null | undefined)[],
  { merge = (a, b) => (a === b ? a : undefined), spaces = false }: AgreeOptions = {},
): string | undefined {
  let agreed: string | undefined
  for (const value of places) {
    if (value === null || value === undefined) continue
    const allowed = spaces ? /^[\x20-\x7e]{1,256}$/ : /^[\x21-\x7e]{1,256}$/
    if (!allowed.test(value)) throw invalid([{ at: name, message: 'must be 1 to 256 visible ASCII characters' }])
    const merged = agreed === undefined ? value : merge(agreed, value)
    if (merged === undefined) {
      const message = `has two different values, "${agreed?.slice(0, 100)}" and "${value.slice(0, 100)}": send only one`
      throw invalid([{ at: name, message }])
    }
    agreed = merged
  }
  return agreed
}

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
