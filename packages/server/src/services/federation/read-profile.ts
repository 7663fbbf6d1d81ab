import { asObjects, asString, isObject, type JsonObject } from '@switchboard/protocol'
import type { PeerRequest } from './peer-request.js'
import type { KnownPeer } from './peers.js'
import { expectObject, isUnsupported, type PeerEntry, type ReadPage } from './read-feed.js'
import { withoutRegistryMembers } from './registry-members.js'

/** Levels of a response around a candidate. */
const DEPTH = 2
/** Candidates that are requested for one query. */
const LIMIT = 100

/**
 * Reads a discovery service by the profile (PROF §5). It answers queries and has no list: the candidates for the
 * queries that the operator has chosen are the agents of this peer.
 */
export function createReadProfile(request: PeerRequest): ReadPage {
  return async (peer, { cursor }, signal) => {
    const queries = peer.queries ?? []
    const at = /^\d{1,3}$/.test(cursor ?? '') ? Number(cursor) : 0
    const query = queries[at]
    if (query === undefined) return 'unsupported'
    const response = await request(peer, {
      path: '/discover',
      body: { query, limit: LIMIT, detail: 'full' },
      signal,
      depth: DEPTH,
    })
    if (isUnsupported(response)) return 'unsupported'
    const { json, bytes } = expectObject(response)
    const more = at + 1 < queries.length
    return {
      entries: asObjects(json.candidates)
        .slice(0, LIMIT)
        .flatMap((candidate) => toProfileEntry(peer, candidate)),
      removed: [],
      full: true,
      more,
      cursor: more ? String(at + 1) : undefined,
      bytes,
    }
  }
}

/** A candidate as an entry; none if it is the copy of another directory's agent. */
export function toProfileEntry(peer: KnownPeer, candidate: JsonObject): PeerEntry[] {
  const { id, freshness, provenance, origin_service: origin } = candidate
  // The copy of a copy has no proof of its origin (C-45).
  if (typeof id !== 'string' || isObject(provenance) || origin !== undefined) return []
  const times = isObject(freshness) ? freshness : {}
  const record = {
    id,
    format: 'profile',
    document: withoutRegistryMembers(candidate),
    ...timesOf(times),
    ...(candidate.redacted === true && { redacted: true }),
  }
  return [{ record, path: [peer.url] }]
}

const timesOf = (freshness: JsonObject): JsonObject =>
  Object.fromEntries(
    ['indexed_at', 'received_at', 'expires_at'].flatMap((name) => {
      const time = asString(freshness[name])
      return time === undefined ? [] : [[name, time]]
    }),
  )
