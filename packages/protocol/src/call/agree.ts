import { invalid } from '../errors.js'

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
