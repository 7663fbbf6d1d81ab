import { AUDIT_COLUMNS } from '../audit-row.js'
import { AGENT_COLUMNS } from '../rows.js'
import { prepare as prepareStatement, type Sqlite } from './database.js'

/** All statements of the writer thread. Parameters are bound by position. */
export function prepareWrites(db: Sqlite) {
  const prepare = (sql: string) => prepareStatement(db, sql)
  return {
    selectAgent: prepare(`SELECT ${AGENT_COLUMNS} FROM agents a JOIN presence p USING (number) WHERE a.id = ?`),
    selectCurrent: prepare(`
      SELECT a.number, a.owner, a.revision, a.created_at, p.received_at, p.lease_seconds, p.lease_expires_at
      FROM agents a JOIN presence p USING (number) WHERE a.id = ?`),
    insertAgent: prepare(`
      INSERT INTO agents (id, owner, face, document, marks, revision, created_at, modified_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
    updateAgent: prepare(`
      UPDATE agents SET owner = ?, face = ?, document = ?, marks = ?, revision = ?, modified_at = ? WHERE number = ?`),
    deleteAgent: prepare('DELETE FROM agents WHERE number = ?'),

    putPresence: prepare(`
      INSERT OR REPLACE INTO presence (number, received_at, lease_seconds, lease_expires_at) VALUES (?, ?, ?, ?)`),
    updatePresence: prepare(`
      UPDATE presence SET received_at = ?, lease_seconds = ?, lease_expires_at = ? WHERE number = ?`),
    deletePresence: prepare('DELETE FROM presence WHERE number = ?'),

    putVectors: prepare(`
      INSERT OR REPLACE INTO vectors (number, model, digest, data)
      SELECT number, ?, ?, ? FROM agents WHERE number = ?`),
    deleteVectors: prepare('DELETE FROM vectors WHERE number = ?'),

    // Run when a name is registered or transferred: data of an earlier owner does not belong to the new one.
    dropForeign: ['credentials', 'statistics', 'ratings'].map((table) =>
      prepare(`DELETE FROM ${table} WHERE agent = ? AND owner <> ?`),
    ),

    insertTombstone: prepare(`
      INSERT INTO tombstones (number, id, owner, reason, marks, at)
      SELECT number, id, owner, ?, marks, ? FROM agents WHERE number = ?`),

    // A revision that was rolled back is assigned again, so revisions have no gaps (see read-changes.ts).
    lastRevision: prepare(`SELECT seq FROM sqlite_sequence WHERE name = 'changes'`),
    insertChange: prepare('INSERT INTO changes (revision, kind, id, number, at) VALUES (?, ?, ?, ?, ?)'),
    insertAudit: prepare(`INSERT INTO audit (${AUDIT_COLUMNS}) VALUES (${AUDIT_COLUMNS.replaceAll(/\w+/g, '?')})`),

    insertKey: prepare(`
      INSERT INTO keys (id, hash, subject, scopes, names, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING`),
    putKey: prepare(`
      INSERT OR REPLACE INTO keys (id, hash, subject, scopes, names, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)`),
    deleteKey: prepare('DELETE FROM keys WHERE id = ?'),
    putGrant: prepare(`
      INSERT OR REPLACE INTO grants (id, subject, scopes, agent, agent_owner, tag, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)`),
    deleteGrant: prepare('DELETE FROM grants WHERE id = ?'),

    insertSetting: prepare('INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING'),
    putSetting: prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)'),
    selectSetting: prepare('SELECT value FROM settings WHERE name = ?'),

    putCredential: prepare('INSERT OR REPLACE INTO credentials (agent, owner, secret, at) VALUES (?, ?, ?, ?)'),
    deleteCredential: prepare('DELETE FROM credentials WHERE agent = ?'),
    putSigningKey: prepare(`
      INSERT OR REPLACE INTO signing_keys (id, public_key, secret, created_at) VALUES (?, ?, ?, ?)`),
    deleteSigningKey: prepare('DELETE FROM signing_keys WHERE id = ?'),

    insertTrust: prepare(`
      INSERT INTO trust (kind, key, version, value, at, expires_at) VALUES (?, ?, 1, ?, ?, ?)
      ON CONFLICT (kind, key) DO NOTHING`),
    updateTrust: prepare(`
      UPDATE trust SET version = version + 1, value = ?, at = ?, expires_at = ? WHERE kind = ? AND key = ? AND version = ?`),
    putLimit: prepare('INSERT OR REPLACE INTO limits (id, kind, name, value, created_at) VALUES (?, ?, ?, ?, ?)'),
    deleteLimit: prepare('DELETE FROM limits WHERE id = ?'),
    addUsage: prepare(`
      INSERT INTO usage (day, key, calls) VALUES (?, ?, ?)
      ON CONFLICT (day, key) DO UPDATE SET calls = calls + excluded.calls`),
    selectUsage: prepare('SELECT key, calls FROM usage WHERE day = ? AND key = ?'),
    pruneUsage: prepare('DELETE FROM usage WHERE rowid IN (SELECT rowid FROM usage WHERE day < ? LIMIT ?)'),
    putCopy: prepare(`
      INSERT OR REPLACE INTO federated (peer, agent, state, face, document, origin, seen_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
    deleteCopy: prepare('DELETE FROM federated WHERE peer = ? AND agent = ?'),
    pruneCopies: prepare(
      `DELETE FROM federated WHERE rowid IN
        (SELECT rowid FROM federated WHERE expires_at < ? AND state <> 'rejected' LIMIT ?)`,
    ),
    deleteTrust: prepare('DELETE FROM trust WHERE kind = ? AND key = ? AND version = ?'),

    // An expired reservation counts as none.
    insertIdempotent: prepare(`
      INSERT INTO idempotency (client, agent, key, fingerprint, at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (client, agent, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, at = excluded.at, expires_at = excluded.expires_at, response = NULL
      WHERE idempotency.expires_at <= excluded.at`),
    selectIdempotent: prepare(
      'SELECT fingerprint, response FROM idempotency WHERE client = ? AND agent = ? AND key = ?',
    ),
    finishIdempotent: prepare(`
      UPDATE idempotency SET response = ?, expires_at = ?
      WHERE client = ? AND agent = ? AND key = ? AND at = ? AND response IS NULL`),
    abandonIdempotent: prepare(
      'DELETE FROM idempotency WHERE client = ? AND agent = ? AND key = ? AND at = ? AND response IS NULL',
    ),

    pruneAudit: prepare('DELETE FROM audit WHERE rowid IN (SELECT rowid FROM audit WHERE at < ? LIMIT ?)'),
    pruneTombstones: prepare(
      'DELETE FROM tombstones WHERE rowid IN (SELECT rowid FROM tombstones WHERE at < ? LIMIT ?)',
    ),
    pruneIdempotency: prepare(
      'DELETE FROM idempotency WHERE rowid IN (SELECT rowid FROM idempotency WHERE expires_at < ? LIMIT ?)',
    ),
    pruneTasks: prepare(`
      DELETE FROM tasks WHERE rowid IN (SELECT rowid FROM tasks WHERE expires_at < ? AND work IS NULL LIMIT ?)`),
    pruneStatistics: prepare(
      'DELETE FROM statistics WHERE rowid IN (SELECT rowid FROM statistics WHERE at < ? LIMIT ?)',
    ),
    pruneChoices: prepare(`
      DELETE FROM choices WHERE rowid IN (
        SELECT rowid FROM choices WHERE at < ? OR number NOT IN (SELECT number FROM agents)
          OR rowid NOT IN (SELECT rowid FROM choices ORDER BY shown DESC, at DESC LIMIT ?) LIMIT ?)`),
    pruneTrust: prepare('DELETE FROM trust WHERE rowid IN (SELECT rowid FROM trust WHERE expires_at < ? LIMIT ?)'),
    pruneOrphans: ['credentials', 'ratings'].map((table) =>
      prepare(`
        DELETE FROM ${table} WHERE rowid IN (
          SELECT o.rowid FROM ${table} o
          WHERE NOT EXISTS (SELECT 1 FROM agents a WHERE a.id = o.agent AND a.owner = o.owner)
            AND NOT EXISTS (SELECT 1 FROM tombstones t WHERE t.id = o.agent AND t.owner = o.owner) LIMIT ?)`),
    ),
    // Up to the first row to keep: a gap in the log would look like its beginning.
    pruneChanges: prepare(`
      DELETE FROM changes WHERE revision IN (
        SELECT revision FROM changes
        WHERE revision < coalesce((SELECT revision FROM changes WHERE at >= ? ORDER BY revision LIMIT 1), 9e15)
        ORDER BY revision LIMIT ?)`),
  }
}
