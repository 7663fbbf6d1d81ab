import type { FederationStore } from '../federation-store.js'
import { toCopy, toCopyCount } from '../rows.js'
import { isStorable, requireStorable } from '../storable.js'
import { prepare, type Read, rowsOf, type Sqlite } from './database.js'
import type { Writer } from './start-writer.js'

export function createFederationStore(db: Sqlite, read: Read, writer: Writer): FederationStore {
  const of = prepare(db, 'SELECT * FROM federated WHERE agent = ? ORDER BY peer')
  const list = prepare(
    db,
    `SELECT * FROM federated
     WHERE (?1 IS NULL OR peer = ?1) AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR seen_at < ?3)
       AND (peer, agent) > (?4, ?5)
     ORDER BY peer, agent LIMIT ?6`,
  )
  const counts = prepare(db, 'SELECT peer, state, count(*) AS count FROM federated GROUP BY peer, state')
  return {
    async put(copies) {
      for (const { peer, agent } of copies) requireStorable(peer, agent)
      if (copies.length > 0) await writer.run('putCopies', { copies })
    },
    of: (agent) => read(() => (isStorable(agent) ? rowsOf(of, [agent]).map(toCopy) : [])),
    list: ({ peer, state, seenBefore, after, limit }) =>
      read(() => rowsOf(list, [peer, state, seenBefore, after?.peer ?? '', after?.agent ?? '', limit]).map(toCopy)),
    async delete(peer, agents) {
      const known = agents.filter((agent) => isStorable(agent))
      if (known.length > 0 && isStorable(peer)) await writer.run('deleteCopies', { peer, agents: known })
    },
    counts: () => read(() => rowsOf(counts).map(toCopyCount)),
  }
}
