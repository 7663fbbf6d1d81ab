import semver from 'semver'

/** A SemVer; "1.0" is read as 1.0.0 (C-24). Undefined for anything else. */
export function coerceVersion(version: string | undefined): string | undefined {
  if (version === undefined) return undefined
  return semver.valid(/^\d+(\.\d+)?$/.test(version) ? semver.coerce(version) : version) ?? undefined
}

/** Above 0 if `a` is later. */
export const compareVersions = (a: string, b: string): number => semver.compare(a, b)
