import { schemaVersion } from '../schema-version.js'
import { prepare, rowOf, type Sqlite } from './database.js'

/**
 * The n-th migrates from version n to n + 1; released migrations are never edited. Older versions go on using the
 * database after a rollback, so add tables and columns only, with defaults for rows that they write. Times are in milliseconds.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE agents (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- AUTOINCREMENT: the number of a removed agent is not given again
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    face TEXT NOT NULL,
    document TEXT NOT NULL,
    marks TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    modified_at INTEGER NOT NULL
  );
  -- One row for each agent, apart from its document: most writes are refreshes and touch only this.
  CREATE TABLE presence (
    number INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    lease_seconds INTEGER,
    lease_expires_at INTEGER
  );
  CREATE TABLE tombstones (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    reason TEXT NOT NULL,
    marks TEXT NOT NULL,
    at INTEGER NOT NULL
  );
  CREATE INDEX tombstones_id ON tombstones (id);
  CREATE INDEX tombstones_at ON tombstones (at);
  CREATE TABLE changes (
    revision INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    id TEXT,
    number INTEGER,
    at INTEGER NOT NULL
  );
  INSERT INTO sqlite_sequence (name, seq) VALUES ('changes', 0); -- so that the last revision can be read from the start
  CREATE TABLE keys (
    id TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,
    subject TEXT NOT NULL,
    scopes TEXT NOT NULL,
    names TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
  );
  CREATE TABLE grants (
    id TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL,
    scopes TEXT NOT NULL,
    agent TEXT,
    agent_owner TEXT,
    tag TEXT,
    created_at INTEGER NOT NULL
  );
  CREATE TABLE audit (
    entry INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    agent TEXT,
    face TEXT,
    request_id TEXT,
    detail TEXT
  );
  CREATE INDEX audit_at ON audit (at);
  CREATE INDEX audit_actor ON audit (actor, at);
  CREATE INDEX audit_agent ON audit (agent, at) WHERE agent IS NOT NULL;
  CREATE TABLE idempotency (
    client TEXT NOT NULL,
    agent TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    response TEXT, -- a JSON string; null while the first caller is at work
    UNIQUE (client, agent, key)
  );
  CREATE INDEX idempotency_expires_at ON idempotency (expires_at);
  `,
  `
  CREATE TABLE vectors (
    number INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    digest TEXT NOT NULL,
    data BLOB NOT NULL
  );
  `,
  `
  CREATE TABLE tasks (
    id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    agent_number INTEGER NOT NULL,
    operation TEXT NOT NULL,
    session TEXT,
    request TEXT NOT NULL, -- encrypted
    repeatable INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    work TEXT, -- null: nothing is left to do
    agent_task TEXT,
    answer TEXT,
    callback_state TEXT,
    callback_attempts INTEGER,
    holder TEXT,
    held_until INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  );
  CREATE INDEX tasks_owner ON tasks (owner, updated_at);
  CREATE INDEX tasks_work ON tasks (held_until) WHERE work IS NOT NULL;
  CREATE INDEX tasks_expires_at ON tasks (expires_at);
  -- What follows belongs to an agent by its name and owner: another owner of the name inherits nothing.
  CREATE TABLE statistics (
    agent TEXT NOT NULL,
    operation TEXT NOT NULL,
    owner TEXT NOT NULL,
    at INTEGER NOT NULL, -- the counters are worth this at this time, and less later
    calls REAL NOT NULL,
    failures REAL NOT NULL,
    ms REAL NOT NULL,
    UNIQUE (agent, operation)
  );
  CREATE INDEX statistics_at ON statistics (at);
  CREATE TABLE ratings (
    agent TEXT NOT NULL,
    subject TEXT NOT NULL,
    owner TEXT NOT NULL,
    rating INTEGER NOT NULL,
    comment TEXT, -- a JSON string
    at INTEGER NOT NULL,
    UNIQUE (agent, subject)
  );
  CREATE INDEX ratings_at ON ratings (at);
  CREATE TABLE credentials (
    agent TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    secret TEXT NOT NULL, -- encrypted
    at INTEGER NOT NULL
  );
  CREATE TABLE signing_keys (
    id TEXT NOT NULL UNIQUE,
    public_key TEXT NOT NULL,
    secret TEXT NOT NULL, -- encrypted
    created_at INTEGER NOT NULL
  );
  `,
  `
  CREATE TABLE trust (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    expires_at INTEGER,
    UNIQUE (kind, key)
  );
  CREATE INDEX trust_expires_at ON trust (expires_at) WHERE expires_at IS NOT NULL;
  `,
  `
  -- Choices of the directory itself that must not change with its config.
  CREATE TABLE settings (
    name TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL
  );
  `,
  `
  ALTER TABLE audit RENAME TO former_audit;
  DROP INDEX audit_at;
  DROP INDEX audit_actor;
  DROP INDEX audit_agent;
  CREATE TABLE audit (
    entry INTEGER PRIMARY KEY AUTOINCREMENT, -- AUTOINCREMENT: positions in the log are not given again
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    agent TEXT,
    face TEXT,
    request_id TEXT,
    detail TEXT,
    address TEXT,
    times INTEGER,
    state_before TEXT,
    state_after TEXT
  );
  INSERT INTO audit (entry, at, actor, action, outcome, agent, face, request_id, detail)
    SELECT entry, at, actor, action, outcome, agent, face, request_id, detail FROM former_audit ORDER BY entry;
  DROP TABLE former_audit;
  CREATE INDEX audit_at ON audit (at);
  CREATE INDEX audit_actor ON audit (actor, at);
  CREATE INDEX audit_agent ON audit (agent, at) WHERE agent IS NOT NULL;
  `,
  `
  ALTER TABLE trust ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX trust_at ON trust (kind, at);
  `,
  `
  CREATE TABLE limits (
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    created_at INTEGER NOT NULL
  );
  -- Calls of a subject or to an agent on a day.
  CREATE TABLE usage (
    day INTEGER NOT NULL,
    key TEXT NOT NULL,
    calls INTEGER NOT NULL,
    UNIQUE (day, key)
  );
  `,
  'CREATE INDEX audit_action ON audit (action, at)',
  `
  -- Agents of other directories, as each peer supplies them.
  CREATE TABLE federated (
    peer TEXT NOT NULL,
    agent TEXT NOT NULL,
    state TEXT NOT NULL,
    face TEXT NOT NULL,
    document TEXT NOT NULL,
    origin TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    expires_at INTEGER,
    UNIQUE (peer, agent)
  );
  CREATE INDEX federated_agent ON federated (agent);
  CREATE INDEX federated_state ON federated (state, peer, agent) WHERE state IN ('quarantined', 'rejected');
  CREATE INDEX federated_expires_at ON federated (expires_at) WHERE expires_at IS NOT NULL;
  `,
  `
  -- How often agents were chosen after searches, by keyed hashes of the terms. Nobody is named here.
  CREATE TABLE choices (
    number INTEGER NOT NULL,
    term TEXT NOT NULL,
    at INTEGER NOT NULL,
    shown REAL NOT NULL,
    chosen REAL NOT NULL,
    UNIQUE (number, term)
  );
  CREATE INDEX choices_at ON choices (at);
  `,
]

/**
 * Migrates the database to the current version in one transaction, and returns the version that it then has: a later one if
 * a newer Switchboard has migrated it. Throws `newer_version` if this one must not use it.
 */
export function migrate(db: Sqlite): number {
  const found = schemaVersion(versionOf(db), MIGRATIONS.length)
  if (found >= MIGRATIONS.length) return found
  db.exec('BEGIN IMMEDIATE')
  try {
    // Read again under the lock: `keys reset-admin` may have migrated it meanwhile.
    const version = schemaVersion(versionOf(db), MIGRATIONS.length)
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration)
    if (version < MIGRATIONS.length) db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    db.exec('COMMIT')
    return Math.max(version, MIGRATIONS.length)
  } catch (error) {
    // SQLite itself rolls back if the disk is full.
    if (db.inTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** The version that the database states, as `schemaVersion` reads it. */
export const versionOf = (db: Sqlite): number => Number(rowOf(prepare(db, 'PRAGMA user_version'))?.user_version)
