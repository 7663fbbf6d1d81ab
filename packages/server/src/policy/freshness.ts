import { type AgentRecord, coerceVersion, compareVersions, type JsonObject, sameJson } from '@switchboard/protocol'

/** How an update relates to the stored version, by the stamps that both have (C-35). */
export type Freshness = 'replace' | 'noop' | 'stale' | 'conflict'

/**
 * Compares an update with the stored version by the first stamp that both have: sequence, updated_at and, for the
 * profile, version. If-Match takes precedence and is checked by the caller of this function.
 */
export function judgeUpdate(stored: AgentRecord, incoming: AgentRecord, path: 'profile' | 'other'): Freshness {
  const order = compareStamps(stored, incoming, path)
  if (order !== undefined && order < 0) return 'stale'
  if (order !== undefined && order > 0) return 'replace'
  if (stored.format === incoming.format && sameContent(stored.document, incoming.document)) return 'noop'
  if (order === 0) return 'conflict'
  // Without stamps the last write wins, except that a profile cannot change its bindings this way (PROF §9).
  return path === 'profile' && !sameEndpoints(stored, incoming) ? 'conflict' : 'replace'
}

/** Positive if the update is newer; undefined if there is no stamp that both have. */
function compareStamps(stored: AgentRecord, incoming: AgentRecord, path: 'profile' | 'other'): number | undefined {
  if (stored.sequence !== undefined && incoming.sequence !== undefined)
    return Math.sign(incoming.sequence - stored.sequence)
  if (stored.updatedAt !== undefined && incoming.updatedAt !== undefined) {
    return Math.sign(Date.parse(incoming.updatedAt) - Date.parse(stored.updatedAt))
  }
  if (path !== 'profile') return undefined
  const [before, after] = [coerceVersion(stored.version), coerceVersion(incoming.version)]
  return before && after ? compareVersions(after, before) : undefined
}

/** Ignores updated_at, because the same instant can be written in several ways. */
function sameContent(a: JsonObject, b: JsonObject): boolean {
  const { updated_at: _a, ...restOfA } = a
  const { updated_at: _b, ...restOfB } = b
  return sameJson(restOfA, restOfB)
}

function sameEndpoints(a: AgentRecord, b: AgentRecord): boolean {
  const endpoints = (record: AgentRecord): string =>
    record.bindings
      .map(({ endpoint }) => endpoint)
      .sort()
      .join('\n')
  return endpoints(a) === endpoints(b)
}
