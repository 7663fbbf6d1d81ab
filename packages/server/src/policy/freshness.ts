import { type AgentRecord, coerceVersion, compareVersions, type JsonObject, sameJson } from '@switchboard/protocol'

/** What becomes of an update, by the stamps both sides have (C-35). */
export type Freshness = 'replace' | 'noop' | 'stale' | 'conflict'

/**
 * Compares an update with what is stored by the first stamp that both have: sequence, updated_at, and on the
 * profile's path version. If-Match comes before them and is judged where the request is read.
 */
export function judgeUpdate(stored: AgentRecord, incoming: AgentRecord, path: 'profile' | 'other'): Freshness {
  const order = compareStamps(stored, incoming, path)
  if (order !== undefined && order < 0) return 'stale'
  if (order !== undefined && order > 0) return 'replace'
  if (stored.format === incoming.format && sameContent(stored.document, incoming.document)) return 'noop'
  if (order === 0) return 'conflict'
  // Without stamps the last write wins; but in the profile, other bindings under one id are no refresh (PROF §9).
  return path === 'profile' && !sameEndpoints(stored, incoming) ? 'conflict' : 'replace'
}

/** Above 0: the update is newer; undefined: there is nothing to compare by. */
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

/** The same instant may be written in several ways, so the stamp itself is left out. */
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
