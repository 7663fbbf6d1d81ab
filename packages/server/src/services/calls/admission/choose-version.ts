import { type AgentRecord, coerceVersion, DirectoryError, isObject, selectVersion } from '@switchboard/protocol'
import { agree } from '../request/agree.js'
import type { Places } from '../request/invocation.js'

export interface ChosenVersion {
  /** Undefined: the agent does not say, and nobody asked. */
  readonly version: string | undefined
  /** Where this version is, relative to the agent's endpoint; undefined: at the endpoint. */
  readonly base: string | undefined
}

/** How many versions an error tells. */
const VERSIONS_TOLD = 20

/** The latest version, or the one that was asked for (AURI §7, C-63). */
export function chooseVersion({ id, document, version: latest }: AgentRecord, places: Places): ChosenVersion {
  const wanted = agree('version', places, isSame)
  const chosen = selectVersion(document, wanted)
  if (chosen) return { version: chosen.version, base: chosen.base }
  if (wanted === undefined) return { version: undefined, base: undefined }
  const others = isObject(document.supportedVersions) ? Object.keys(document.supportedVersions) : []
  const known = [...(latest === undefined ? [] : [latest]), ...others].slice(0, VERSIONS_TOLD)
  const hint = known.length > 0 ? `it has ${known.join(', ')}` : 'it does not say which it has'
  throw new DirectoryError('not_found', `the agent "${id}" has no version "${wanted}": ${hint}`)
}

/** "1.0" and "1.0.0" are one version (C-24). */
const isSame = (a: string, b: string): boolean => a === b || (coerceVersion(a) ?? a) === (coerceVersion(b) ?? b)
