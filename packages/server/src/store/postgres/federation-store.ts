import type { FederationStore } from '../federation-store.js'
import { toCopy, toCopyCount } from '../rows.js'
import { isStorable, requireStorable } from '../storable.js'
import type { Connection } from './connect.js'

export function createFederationStore({ query }: Connection): FederationStore {
  return {
    async put(copies) {
      for (const { peer, agent } of copies) requireStorable(peer, agent)
      if (copies.length === 0) return
      const rows = copies.map(({ document, origin, ...copy }) => ({
        ...copy,
        document: JSON.stringify(document),
        origin: JSON.stringify(origin),
      }))
      await query(PUT, [JSON.stringify(rows)])
    },
    async of(agent) {
      if (!isStorable(agent)) return []
      return (await query('SELECT * FROM federated WHERE agent = $1 ORDER BY peer', [agent])).map(toCopy)
    },
    async list({ peer, state, seenBefore, after, limit }) {
      const rows = await query(LIST, [peer, state, seenBefore, after?.peer ?? '', after?.agent ?? '', limit])
      return rows.map(toCopy)
    },
    async delete(peer, agents) {
      const known = agents.filter((agent) => isStorable(agent))
      if (isStorable(peer)) await query('DELETE FROM federated WHERE peer = $1 AND agent = ANY ($2)', [peer, known])
    },
    async counts() {
      return (await query('SELECT peer, state, count(*) AS count FROM federated GROUP BY peer, state')).map(toCopyCount)
    },
  }
}

/** Rows are locked in the order of their keys, so that replicas cannot deadlock. */
const PUT = `
  INSERT INTO federated (peer, agent, state, face, document, origin, seen_at, expires_at)
  SELECT peer, agent, state, format, document, origin, "seenAt", "expiresAt"
  FROM json_to_recordset($1::json) AS c (
    peer text COLLATE "C", agent text COLLATE "C", state text, format text, document text, origin text,
    "seenAt" bigint, "expiresAt" bigint)
  ORDER BY peer, agent
  ON CONFLICT (peer, agent) DO UPDATE SET state = excluded.state, face = excluded.face, document = excluded.document,
    origin = excluded.origin, seen_at = excluded.seen_at, expires_at = excluded.expires_at`

const LIST = `
  SELECT * FROM federated
  WHERE ($1::text IS NULL OR peer = $1) AND ($2::text IS NULL OR state = $2) AND ($3::bigint IS NULL OR seen_at < $3)
    AND (peer, agent) > ($4, $5)
  ORDER BY peer, agent LIMIT $6`
