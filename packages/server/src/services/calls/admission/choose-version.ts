import { type AgentRecord, agreeOnVersion, DirectoryError, isObject, selectVersion } from '@switchboard/protocol'
import type { Places } from '../request/invocation.js'

export interface ChosenVersion {
  /** Undefined: the agent states none, and the caller asked for none. */
  readonly version: string | undefined
  /** Where this version is served, relative to the agent's endpoint; undefined: at the endpoint. */
  readonly base: string | undefined
}

/** Versions that an error message lists. */
const VERSIONS_LISTED = 20

/** The latest version, or the one that was asked for (AURI §7, C-63). */
export function chooseVersion({ id, document, version: latest }: AgentRecord, places: Places): ChosenVersion {
  const wanted = agreeOnVersion(Object.values(places))
  const chosen = selectVersion(document, wanted)
  if (chosen) return { version: chosen.version, base: chosen.base }
  if (wanted === undefined) return { version: undefined, base: undefined }
  const others = isObject(document.supportedVersions) ? Object.keys(document.supportedVersions) : []
  const known = [...(latest === undefined ? [] : [latest]), ...others].slice(0, VERSIONS_LISTED)
  const hint = known.length > 0 ? `it has ${known.join(', ')}` : 'it does not state its versions'
  throw new DirectoryError('not_found', `the agent "${id}" has no version "${wanted}": ${hint}`)
}
