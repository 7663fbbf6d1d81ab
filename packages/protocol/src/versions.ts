import semver from 'semver'
import { asString, isObject, type JsonObject } from './json.js'

/** Normalizes a semantic version; "1.0" becomes 1.0.0 (C-24). `undefined` if it is not a version. */
export function coerceVersion(version: string | undefined): string | undefined {
  if (version === undefined) return undefined
  return semver.valid(/^\d+(\.\d+)?$/.test(version) ? semver.coerce(version) : version) ?? undefined
}

/** Compares two versions, for sorting: above 0 if `a` is later. */
export const compareVersions = (a: string, b: string): number => semver.compare(a, b)

/** A version that an agent offers, as written in its document; `base` if it has a URL of its own. */
export interface OfferedVersion {
  readonly version: string
  readonly base?: string
}

/**
 * Selects a version of an agent: exactly the requested one, or else the latest in a range such as "^3.0.0". Without a
 * request, the version of the document (AURI §7). `undefined` if the agent offers no such version.
 */
export function selectVersion(document: JsonObject, wanted: string | undefined): OfferedVersion | undefined {
  const latest = asString(document.version)
  if (wanted === undefined) return latest === undefined ? undefined : { version: latest }
  const older = isObject(document.supportedVersions) ? Object.entries(document.supportedVersions) : []
  const offered: OfferedVersion[] = [
    ...(latest === undefined ? [] : [{ version: latest }]),
    ...older.flatMap(([version, base]) => (typeof base === 'string' ? [{ version, base }] : [])),
  ]
  const exact = coerceVersion(wanted) ?? wanted
  const same = offered.find(({ version }) => version === wanted || coerceVersion(version) === exact)
  return same ?? latestWithin(offered, wanted)
}

function latestWithin(offered: readonly OfferedVersion[], range: string): OfferedVersion | undefined {
  const fitting = offered.filter(({ version }) => fitsVersion(version, range))
  return fitting.reduce<OfferedVersion | undefined>((best, next) => {
    const later = !best || semver.gt(coerceVersion(next.version) ?? '0.0.0', coerceVersion(best.version) ?? '0.0.0')
    return later ? next : best
  }, undefined)
}

/** Whether a version is in a range such as "^3.0.0", or equal to a single version. */
export function fitsVersion(version: string, range: string): boolean {
  const exact = coerceVersion(version)
  return exact !== undefined && semver.satisfies(exact, range)
}

/** Whether a text is a range of versions; a single version is one too. */
export const isVersionRange = (text: string): boolean => semver.validRange(text) !== null
