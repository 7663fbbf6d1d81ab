import { reasonOf, StoreError } from '../store-error.js'
import { type Query, sqlStateOf } from './connect.js'

/** The first version of pgvector that goes on searching until a filter has let enough through. */
const OLDEST_PGVECTOR = [0, 8]

/**
 * The n-th migrates the tables of the text index from version n to n + 1; released migrations are never edited. They are
 * apart from the others because they need the extension `vector`. All of it can be made again from the agents.
 */
const MIGRATIONS: readonly string[] = [
  `
  -- One row: what the text index contains. Locked by every change, so that counts are exact and nothing deadlocks.
  CREATE TABLE text_index (
    generation bigint NOT NULL,
    agents bigint NOT NULL,
    public_agents bigint NOT NULL,
    public_length float8 NOT NULL,
    dimensions int, -- of the embedding model
    model text
  );
  INSERT INTO text_index VALUES (0, 0, 0, 0);
  CREATE SEQUENCE text_stamps;
  CREATE TABLE text_agents (
    number bigint PRIMARY KEY,
    version float8 NOT NULL,
    format text NOT NULL, -- how the text was analysed
    is_public boolean NOT NULL,
    length float8 NOT NULL,
    terms tsvector NOT NULL -- one position for each; its weight is the impact of the term
  );
  -- In line: a search reads thousands of them.
  ALTER TABLE text_agents ALTER COLUMN terms SET STORAGE MAIN;
  ALTER TABLE text_agents SET (toast_tuple_target = 8160);
  CREATE INDEX text_agents_terms ON text_agents USING gin (terms) WITH (fastupdate = off);
  CREATE TABLE text_contents (
    number bigint PRIMARY KEY,
    words text[] NOT NULL,
    content text NOT NULL
  );
  CREATE TABLE text_static (
    number bigint NOT NULL,
    part int NOT NULL,
    embedding halfvec(128) NOT NULL,
    PRIMARY KEY (number, part)
  );
  CREATE INDEX text_static_embedding ON text_static USING hnsw (embedding halfvec_cosine_ops);
  CREATE TABLE text_embedded (
    number bigint PRIMARY KEY,
    stamp bigint NOT NULL, -- distinguishes these vectors from earlier ones
    packed bytea NOT NULL
  );
  CREATE TABLE text_model (
    number bigint NOT NULL,
    part int NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (number, part)
  );
  -- How many public agents contain a term, and in how many of them it is loud.
  CREATE TABLE text_terms (
    term text COLLATE "C" PRIMARY KEY,
    agents bigint NOT NULL,
    loud bigint NOT NULL
  ) WITH (fillfactor = 70);
  CREATE TABLE text_words (
    word text COLLATE "C" PRIMARY KEY,
    agents bigint NOT NULL
  ) WITH (fillfactor = 70);
  `,
]

/**
 * Creates the tables of the text index, or migrates them. Needs a transaction. Throws a StoreError `unsupported` where
 * pgvector is missing.
 */
export async function migrateText(query: Query): Promise<void> {
  await query(`SELECT pg_advisory_xact_lock(hashtextextended('switchboard text ' || current_schema(), 0))`)
  await requireVector(query)
  const [found] = await query(`SELECT to_regclass('text_schema') IS NOT NULL AS it`)
  if (!found?.it) {
    await query('CREATE TABLE text_schema (version int NOT NULL)')
    await query('INSERT INTO text_schema VALUES (0)')
  }
  const [row] = await query('SELECT version FROM text_schema')
  const version = Number(row?.version)
  if (version > MIGRATIONS.length)
    throw new StoreError(
      'newer_version',
      'the text index was made by a newer version: drop the tables text_* or use that version',
    )
  if (version === MIGRATIONS.length) return
  for (const migration of MIGRATIONS.slice(version)) await query(migration)
  await query('UPDATE text_schema SET version = $1', [MIGRATIONS.length])
}

async function requireVector(query: Query): Promise<void> {
  const installed = async () =>
    (await query(`SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'`))[0]?.version
  if ((await installed()) === undefined) {
    try {
      await query('CREATE EXTENSION vector')
    } catch (error) {
      if (sqlStateOf(error) === undefined) throw error
      throw unsupported(
        `the extension vector cannot be created (${reasonOf(error)}): install pgvector 0.8 or later on the database server ` +
          '(Debian package postgresql-N-pgvector), and let an administrator run CREATE EXTENSION vector in this database',
        error,
      )
    }
  }
  const version = String(await installed())
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_PGVECTOR
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  throw unsupported(
    `pgvector ${OLDEST_PGVECTOR.join('.')} or later is required, but the database has ${version}: install a newer one, ` +
      'then run ALTER EXTENSION vector UPDATE',
  )
}

const unsupported = (message: string, cause?: unknown): StoreError => new StoreError('unsupported', message, { cause })
