export interface Conditions {
  readonly ifNoneMatch: string | null | undefined
  readonly ifModifiedSince: string | null | undefined
}

/** Whether the client's copy is still current; an entity tag takes precedence over a date (RFC 9110 §13.2.2). */
export function isNotModified(
  { ifNoneMatch, ifModifiedSince }: Conditions,
  { tag, changedAt }: { readonly tag: string; readonly changedAt: number },
): boolean {
  if (ifNoneMatch !== null && ifNoneMatch !== undefined) return matchesTag(ifNoneMatch, tag)
  const since = Date.parse(ifModifiedSince ?? '')
  // HTTP dates have whole seconds.
  return !Number.isNaN(since) && Math.floor(changedAt / 1000) * 1000 <= since
}

/** Whether an If-None-Match header names the tag. Compares weakly, because caches may have weakened it. */
export const matchesTag = (ifNoneMatch: string | null | undefined, tag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((item) => item.trim() === '*' || opaque(item) === opaque(tag))

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')
