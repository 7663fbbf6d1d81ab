import {
  agreeOnVersion,
  coerceVersion,
  DirectoryError,
  isVersionRange,
  type JsonObject,
  selectVersion,
} from '@switchboard/protocol'
import { ClientError } from '../errors.js'

/** The places where a version can be asked for (C-63). */
export interface AskedVersions {
  readonly option?: string | undefined
  readonly query?: string | undefined
  readonly path?: string | undefined
}

/**
 * The version, or range of versions, that is asked for.
 *
 * @throws {ClientError} `version_conflict` if two places contradict each other, `invalid_argument` for what is not a version
 */
export function readAskedVersion({ option, query, path }: AskedVersions): string | undefined {
  const asked = [option, query, path].filter((text) => text !== undefined)
  for (const text of asked) {
    if (!isVersionRange(text))
      throw new ClientError('invalid_argument', 'version must be a version such as "3.1.4" or a range such as "^3.0.0"')
  }
  try {
    return agreeOnVersion(asked)
  } catch (cause) {
    if (!(cause instanceof DirectoryError)) throw cause
    throw new ClientError('version_conflict', cause.message, { cause })
  }
}

/** Whether a segment of the path is a version that the agent offers. */
export function isOfferedVersion(document: JsonObject, segment: string | undefined): boolean {
  return segment !== undefined && /^\d+\.\d/.test(segment) && selectVersion(document, segment) !== undefined
}

export interface ChosenVersion {
  readonly version?: string
  /** Where that version is served, if not at the usual place. */
  readonly base?: string
}

/**
 * The version of the agent that fits what was asked for (AURI §7). An agent that states none can be asked for an exact one,
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
