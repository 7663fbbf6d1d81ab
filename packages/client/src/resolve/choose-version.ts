import { coerceVersion, fitsVersion, isVersionRange, type JsonObject, selectVersion } from '@switchboard/protocol'
import { ClientError } from '../errors.js'

/** Where a version can be asked for, the most explicit first (C-63). */
export interface AskedVersions {
  readonly option?: string | undefined
  readonly query?: string | undefined
  readonly path?: string | undefined
}

/**
 * The one version, or range, that is asked for.
 *
 * @throws {ClientError} `version_conflict` if two places ask for what cannot both be, `invalid_argument` for nonsense
 */
export function agreeOnVersion({ option, query, path }: AskedVersions): string | undefined {
  const asked = [option, query, path].filter((text) => text !== undefined)
  for (const text of asked) {
    if (!isVersionRange(text))
      throw new ClientError('invalid_argument', 'a version is asked for like "3.1.4" or "^3.0.0"')
  }
  return asked.reduce<string | undefined>(
    (agreed, next) => (agreed === undefined ? next : narrower(agreed, next)),
    undefined,
  )
}

/** Of an exact version and a range which it fits, the exact one. */
function narrower(a: string, b: string): string {
  const [x, y] = [coerceVersion(a), coerceVersion(b)]
  if (a === b || (x !== undefined && x === y)) return a
  if (x !== undefined && y === undefined && fitsVersion(x, b)) return a
  if (y !== undefined && x === undefined && fitsVersion(y, a)) return b
  throw new ClientError('version_conflict', `two places ask for different versions: ${a} and ${b}`)
}

/** A segment of the path that is a version which the agent offers. */
export function isOfferedVersion(document: JsonObject, segment: string | undefined): boolean {
  return segment !== undefined && /^\d+\.\d/.test(segment) && selectVersion(document, segment) !== undefined
}

export interface ChosenVersion {
  readonly version?: string
  /** Where that version lives, if not at the usual place. */
  readonly base?: string
}

/**
 * The version of the agent that fits what is asked (AURI §7). An agent that states none can be asked for an exact one,
 * and judges for itself.
 *
 * @throws {ClientError} `version_mismatch` if it states some and none fits
 */
export function chooseVersion(document: JsonObject, wanted: string | undefined): ChosenVersion {
  const chosen = selectVersion(document, wanted)
  if (chosen) return chosen
  if (wanted === undefined) return {}
  const statesNone = document.version === undefined && document.supportedVersions === undefined
  if (statesNone && coerceVersion(wanted) !== undefined) return { version: wanted }
  throw new ClientError('version_mismatch', `the agent offers no version that fits ${wanted}`)
}
