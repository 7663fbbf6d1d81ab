import { schemaVersion } from '../schema-version.js'
import { StoreError } from '../store-error.js'
import type { Query } from './connect.js'

/** The first version with xid8 and its snapshots, which the change feed needs. */
const OLDEST_SERVER = 130000

/**
 * The n-th migrates from version n to n + 1; released migrations are never edited. Older versions go on using the
 * database, so add tables and columns only, with defaults for rows that they write. Times are in milliseconds.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE agents (
    number bigserial PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    owner text NOT NULL,
    face text NOT NULL,
    document text NOT NULL, -- text, not jsonb, which cannot hold the escape \\u0000 and would reorder members
    marks text NOT NULL,
    revision bigint NOT NULL,
    created_at bigint NOT NULL,
    modified_at bigint NOT NULL
  );
  -- One row for each agent, apart from its document: most writes are refreshes and touch only this. Whoever writes an
  -- agent locks this row first. The free space lets an update stay on its page, without work for the index.
  CREATE TABLE presence (
    number bigint PRIMARY KEY,
    received_at bigint NOT NULL,
    lease_seconds bigint,
    lease_expires_at bigint
  ) WITH (fillfactor = 70);
  CREATE TABLE tombstones (
    number bigint PRIMARY KEY,
    id text COLLATE "C" NOT NULL,
    owner text NOT NULL,
    reason text NOT NULL,
    marks text NOT NULL,
    at bigint NOT NULL
  );
  CREATE INDEX tombstones_id ON tombstones (id);
  CREATE INDEX tombstones_at ON tombstones (at);
  CREATE TABLE changes (
    revision bigserial PRIMARY KEY,
    kind text NOT NULL,
    id text,
    number bigint,
    at bigint NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id()
  );
  CREATE INDEX changes_xid ON changes (xid);
  CREATE TABLE keys (
    id text PRIMARY KEY,
    hash text NOT NULL,
    subject text NOT NULL,
    scopes text NOT NULL,
    names text,
    created_at bigint NOT NULL,
    expires_at bigint
  );
  CREATE TABLE grants (
    id text PRIMARY KEY,
    subject text NOT NULL,
    scopes text NOT NULL,
    agent text,
    agent_owner text,
    tag text,
    created_at bigint NOT NULL
  );
  CREATE TABLE audit (
    entry bigserial PRIMARY KEY,
    at bigint NOT NULL,
    actor text COLLATE "C" NOT NULL,
    action text NOT NULL,
    outcome text NOT NULL,
    agent text COLLATE "C",
    face text,
    request_id text,
    detail text
  );
  CREATE INDEX audit_at ON audit (at);
  CREATE INDEX audit_actor ON audit (actor, at);
  CREATE INDEX audit_agent ON audit (agent, at) WHERE agent IS NOT NULL;
  CREATE TABLE idempotency (
    client text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    at bigint NOT NULL,
    expires_at bigint NOT NULL,
    response text, -- a JSON string; null while the first caller is at work
    PRIMARY KEY (client, agent, key)
  );
  CREATE INDEX idempotency_expires_at ON idempotency (expires_at);
  `,
  `
  CREATE TABLE vectors (
    number bigint PRIMARY KEY,
    model text NOT NULL,
    digest text NOT NULL,
    data bytea NOT NULL
  );
  `,
  `
  CREATE TABLE tasks (
    id text PRIMARY KEY,
    version bigint NOT NULL,
    owner text COLLATE "C" NOT NULL,
    agent text NOT NULL,
    agent_number bigint NOT NULL,
    operation text NOT NULL,
    session text,
    request text NOT NULL, -- encrypted
    repeatable int NOT NULL,
    created_at bigint NOT NULL,
    status text NOT NULL,
    work text, -- null: nothing is left to do
    agent_task text,
    answer text,
    callback_state text,
    callback_attempts int,
    holder text,
    held_until bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint NOT NULL
  );
  CREATE INDEX tasks_owner ON tasks (owner, updated_at);
  CREATE INDEX tasks_work ON tasks (held_until) WHERE work IS NOT NULL;
  CREATE INDEX tasks_expires_at ON tasks (expires_at);
  -- What follows belongs to an agent by its name and owner: another owner of the name inherits nothing.
  CREATE TABLE statistics (
    agent text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    owner text NOT NULL,
    at bigint NOT NULL, -- the counters are worth this at this time, and less later
    calls float8 NOT NULL,
    failures float8 NOT NULL,
    ms float8 NOT NULL,
    PRIMARY KEY (agent, operation)
  );
  CREATE INDEX statistics_at ON statistics (at);
  CREATE TABLE ratings (
    agent text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    owner text NOT NULL,
    rating int NOT NULL,
    comment text, -- a JSON string
    at bigint NOT NULL,
    PRIMARY KEY (agent, subject)
  );
  CREATE INDEX ratings_at ON ratings (at);
  CREATE TABLE credentials (
    agent text COLLATE "C" PRIMARY KEY,
    owner text NOT NULL,
    secret text NOT NULL, -- encrypted
    at bigint NOT NULL
  );
  CREATE TABLE signing_keys (
    id text PRIMARY KEY,
    public_key text NOT NULL,
    secret text NOT NULL, -- encrypted
    created_at bigint NOT NULL
  );
  `,
  `
  CREATE TABLE trust (
    kind text NOT NULL,
    key text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    value text NOT NULL,
    expires_at bigint,
    PRIMARY KEY (kind, key)
  );
  CREATE INDEX trust_expires_at ON trust (expires_at) WHERE expires_at IS NOT NULL;
  `,
  `
  -- Choices of the directory itself that must not change with its config.
  CREATE TABLE settings (
    name text PRIMARY KEY,
    value text NOT NULL
  );
  `,
  `
  ALTER TABLE audit
    ADD COLUMN address text,
    ADD COLUMN times bigint,
    ADD COLUMN state_before text,
    ADD COLUMN state_after text,
    -- Orders the log: entries become visible in this order, but not in the order of their numbers.
    ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();
  CREATE INDEX audit_xid ON audit (xid, entry);
  `,
  `
  ALTER TABLE trust ADD COLUMN at bigint NOT NULL DEFAULT 0;
  CREATE INDEX trust_at ON trust (kind, at);
  `,
  `
  CREATE TABLE limits (
    id text COLLATE "C" NOT NULL UNIQUE,
    kind text NOT NULL,
    name text NOT NULL,
    value text NOT NULL,
    created_at bigint NOT NULL
  );
  -- Calls of a subject or to an agent on a day.
  CREATE TABLE usage (
    day bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    UNIQUE (day, key)
  );
  `,
  'CREATE INDEX audit_action ON audit (action, at)',
  `
  -- Agents of other directories, as each peer supplies them.
  CREATE TABLE federated (
    peer text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    state text NOT NULL,
    face text NOT NULL,
    document text NOT NULL,
    origin text NOT NULL,
    seen_at bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (peer, agent)
  );
  CREATE INDEX federated_agent ON federated (agent);
  CREATE INDEX federated_state ON federated (state, peer, agent) WHERE state IN ('quarantined', 'rejected');
  CREATE INDEX federated_expires_at ON federated (expires_at) WHERE expires_at IS NOT NULL;
  `,
  `
  -- What replicas tell each other every half second. Not logged: after a crash it is stale anyway.
  CREATE UNLOGGED TABLE replicas (
    id text PRIMARY KEY,
    seen_at timestamptz NOT NULL,
    calls text NOT NULL
  ) WITH (fillfactor = 50);
  -- Token buckets of rate limits, and what was last taken from them.
  CREATE UNLOGGED TABLE buckets (
    key text COLLATE "C" PRIMARY KEY,
    capacity float8 NOT NULL,
    refill_ms float8 NOT NULL,
    spent float8 NOT NULL,
    wanted float8 NOT NULL,
    tokens float8 NOT NULL,
    granted float8 NOT NULL,
    at timestamptz NOT NULL
  ) WITH (fillfactor = 50);
  -- Counts towards the quota of the owner; 0 for documents of earlier versions.
  ALTER TABLE agents ADD COLUMN memory bigint NOT NULL DEFAULT 0;
  CREATE INDEX agents_owner ON agents (owner) INCLUDE (memory);
  `,
  `
  -- Distinguishes this database from the one that its data was copied from.
  ALTER TABLE switchboard ADD COLUMN database_id uuid NOT NULL DEFAULT gen_random_uuid();
  -- Written by checks, to find out whether there is room on the disk; not compressed.
  ALTER TABLE switchboard ADD COLUMN room text;
  ALTER TABLE switchboard ALTER COLUMN room SET STORAGE EXTERNAL;
  `,
  `
  -- Work that a replica does for all of them.
  CREATE UNLOGGED TABLE claims (
    key text COLLATE "C" PRIMARY KEY,
    holder text NOT NULL,
    until timestamptz NOT NULL
  );
  `,
  `
  -- How often agents were chosen after searches, by keyed hashes of the terms. Nobody is named here.
  CREATE TABLE choices (
    number bigint NOT NULL,
    term text NOT NULL,
    at bigint NOT NULL,
    shown float8 NOT NULL,
    chosen float8 NOT NULL,
    UNIQUE (number, term)
  );
  CREATE INDEX choices_at ON choices (at);
  `,
]

/**
 * Migrates the first schema on the search path to the current version, and returns the version that it then has: a later
 * one if a newer Switchboard has migrated it. Needs a transaction. Replicas that start at the same time wait for each
 * other here.
 */
export async function migrate(query: Query): Promise<number> {
  const [server] = await query(`
    SELECT current_schema() AS schema, current_setting('server_version') AS name,
      current_setting('server_version_num')::int AS version`)
  if (Number(server?.version) < OLDEST_SERVER) {
    throw new StoreError('unavailable', `PostgreSQL 13 or later is required, but the server is ${server?.name}`)
  }
  if (!server?.schema) throw new StoreError('unavailable', 'the search_path of the database names no existing schema')

  await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`switchboard ${server.schema}`])
  const version = schemaVersion(await versionOf(query), MIGRATIONS.length)
  if (version < MIGRATIONS.length) {
    for (const migration of MIGRATIONS.slice(version)) await query(migration)
    await query('UPDATE switchboard SET version = $1', [MIGRATIONS.length])
  }
  await forgetForeignChanges(query)
  return Math.max(version, MIGRATIONS.length)
}

/** Creates the table only if it is missing: a role without CREATE permission can use an up-to-date schema. */
async function versionOf(query: Query): Promise<number> {
  const [found] = await query(`SELECT to_regclass('switchboard') IS NOT NULL AS it`)
  if (!found?.it) {
    // One row. `pruned`: the last transaction whose entries were pruned from the change log.
    await query('CREATE TABLE switchboard (version int NOT NULL, pruned xid8 NOT NULL)')
    await query(`INSERT INTO switchboard VALUES (0, '0')`)
  }
  const [row] = await query('SELECT version FROM switchboard')
  return Number(row?.version)
}

/**
 * After a restore from a dump, the logs contain transaction ids of another cluster. Those ahead of this cluster's ids
 * would be returned by every poll of the change log; no replica follows that cluster any more, so it is cleared. In the
 * audit log they would hide entries, which therefore count as the oldest. Writes only if there are any.
 */
export async function forgetForeignChanges(query: Query): Promise<void> {
  const [found] = await query(`
    SELECT EXISTS (SELECT FROM audit WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())) AS entries,
      EXISTS (SELECT FROM changes WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()))
      OR (SELECT pruned >= pg_snapshot_xmax(pg_current_snapshot()) FROM switchboard) AS changes`)
  if (found?.entries) await query(`UPDATE audit SET xid = '0' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())`)
  if (!found?.changes) return
  await query('DELETE FROM changes')
  await query(`UPDATE switchboard SET pruned = '0'`)
}
