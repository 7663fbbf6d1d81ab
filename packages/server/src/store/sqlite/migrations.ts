import { StoreError } from '../store-error.js'
import { prepare, rowOf, type Sqlite } from './database.js'

/** The n-th brings a database from version n to n + 1; what was released is never edited. Times are milliseconds. */
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
]

/** Brings the database to the version of this code, in one transaction; refuses one that is ahead of it. */
export function migrate(db: Sqlite): void {
  if (versionOf(db) === MIGRATIONS.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    // Read again under the lock: `keys reset-admin` may have come first.
    const version = versionOf(db)
    if (version > MIGRATIONS.length) {
      throw new StoreError(
        'newer_version',
        `the database has version ${version}, this Switchboard knows versions up to ${MIGRATIONS.length}: upgrade it`,
      )
    }
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration)
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

const versionOf = (db: Sqlite): number => Number(rowOf(prepare(db, 'PRAGMA user_version'))?.user_version)
