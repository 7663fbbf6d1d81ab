import { type AgentRecord, agreeOnVersion, DirectoryError, isObject, selectVersion } from '@switchboard/protocol'
import type { Places } from './invocation.js'

/** The version of an agent to call. */
export interface ChosenVersion {
  /** X-Agent-Version, for the agent and for the response; empty if the version is unknown or not fit for a header. */
  readonly headers: Readonly<Record<string, string>>
  /** Where this version is served, relative to the agent's endpoint; undefined: at the endpoint. */
  readonly base: string | undefined
}

/** Versions that an error message lists. */
const VERSIONS_LISTED = 20

/** The latest version, or the one that the caller requests (AURI §7, C-63). */
export function chooseVersion({ id, document, version: latest }: AgentRecord, places: Places): ChosenVersion {
  const requested = agreeOnVersion(Object.values(places))
  const chosen = selectVersion(document, requested)
  if (chosen) return { headers: versionHeaders(chosen.version), base: chosen.base }
  if (requested === undefined) return { headers: {}, base: undefined }
  const others = isObject(document.supportedVersions) ? Object.keys(document.supportedVersions) : []
  const known = [...(latest === undefined ? [] : [latest]), ...others].slice(0, VERSIONS_LISTED)
  const hint = known.length > 0 ? `it has ${known.join(', ')}` : 'it does not state its versions'
  throw new DirectoryError('not_found', `the agent "${id}" has no version "${requested}": ${hint}`)
}

const versionHeaders = (version: string): Record<string, string> =>
  /^[\x20-\x7e]{1,256}$/.test(version) ? { 'x-agent-version': version } : {}
