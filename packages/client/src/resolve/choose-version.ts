import {
  agreeOnVersion,
  coerceVersion,
  DirectoryError,
  isVersionRange,
  type JsonObject,
  selectVersion,
} from '@switchboard/protocol'
import { ClientError } from '../errors.js'

/** The places that can request a version (C-63). */
export interface RequestedVersions {
  readonly option?: string | undefined
  readonly query?: string | undefined
  readonly path?: string | undefined
}

/**
 * The requested version or range of versions.
 *
 * @throws {ClientError} `version_conflict` if two places disagree, `invalid_argument` if one is not a version
 */
export function readRequestedVersion({ option, query, path }: RequestedVersions): string | undefined {
  const requested = [option, query, path].filter((text) => text !== undefined)
  for (const text of requested) {
    if (!isVersionRange(text))
      throw new ClientError('invalid_argument', 'version must be a version such as "3.1.4" or a range such as "^3.0.0"')
  }
  try {
    return agreeOnVersion(requested)
  } catch (cause) {
    if (!(cause instanceof DirectoryError)) throw cause
    throw new ClientError('version_conflict', cause.message, { cause })
  }
}

/** Whether a path segment is a version that the agent offers. */
export function isOfferedVersion(document: JsonObject, segment: string | undefined): boolean {
  return segment !== undefined && /^\d+\.\d/.test(segment) && selectVersion(document, segment) !== undefined
}

export interface ChosenVersion {
  readonly version?: string
  /** URL of that version, if it has its own. */
  readonly base?: string
}

/**
 * Chooses the version of the agent that matches the request (AURI §7). If the agent states no version, an exact version
 * is passed on for the agent to decide.
 *
 * @throws {ClientError} `version_mismatch` if no version of the agent matches
 */
export function chooseVersion(document: JsonObject, wanted: string | undefined): ChosenVersion {
  const chosen = selectVersion(document, wanted)
  if (chosen) return chosen
  if (wanted === undefined) return {}
  const statesNone = document.version === undefined && document.supportedVersions === undefined
  if (statesNone && coerceVersion(wanted) !== undefined) return { version: wanted }
  throw new ClientError('version_mismatch', `the agent has no version that matches ${wanted}`)
}
