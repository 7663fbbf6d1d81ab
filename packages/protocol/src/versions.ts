import semver from 'semver'
import { asString, isObject, type JsonObject } from './json.js'

/** A SemVer; "1.0" is read as 1.0.0 (C-24). Undefined for anything else. */
export function coerceVersion(version: string | undefined): string | undefined {
  if (version === undefined) return undefined
  return semver.valid(/^\d+(\.\d+)?$/.test(version) ? semver.coerce(version) : version) ?? undefined
}

/** Above 0 if `a` is later. */
export const compareVersions = (a: string, b: string): number => semver.compare(a, b)

/** A version that an agent offers, as its document writes it, and where it is reached if not at the usual place. */
export interface OfferedVersion {
  readonly version: string
  readonly base?: string
}

/**
 * The version of an agent that fits: the very one asked for, else the latest within a range such as "^3.0.0"; with
 * nothing asked, the document's own (AURI §7). Undefined if the agent offers none that fits.
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

/** Whether a version lies within a range such as "^3.0.0", or is the one that is named. */
export function fitsVersion(version: string, range: string): boolean {
  const exact = coerceVersion(version)
  return exact !== undefined && semver.satisfies(exact, range)
}

/** Whether a text is a range of versions, a single one included. */
export const isVersionRange = (text: string): boolean => semver.validRange(text) !== null
