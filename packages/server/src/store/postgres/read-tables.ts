import {
  type CopiedTable,
  ownTables,
  readPages,
  type StoredValue,
  type Table,
  type TableReader,
} from '../backup/tables.js'
import { knownSchemaVersion } from '../schema-version.js'
import { StoreError } from '../store-error.js'
import { connect, type Query } from './connect.js'
import { MIGRATIONS } from './migrations.js'

/** A table, the types of its columns, and the sequence that numbers its rows. */
export interface PostgresTable extends Table {
  readonly types: readonly string[]
  readonly sequence?: string
}

/** Reads the store in a database as it is now. With `alone`, no server may use it meanwhile. */
export async function readPostgresTables(url: string, { alone = false } = {}): Promise<TableReader> {
  // Counting and fetching millions of rows takes as long as it takes.
  const connection = connect(url, 1, { queryTimeout: 0 })
  const close = (): Promise<void> => connection.close()
  try {
    const { query, abandon } = await connection.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY')
    try {
      const version = await versionOf(query)
      if (alone) await requireAlone(query)
      const known = await listTables(query)
      const tables: (CopiedTable & PostgresTable)[] = []
      for (const table of known) tables.push({ ...table, ...(await countRows(query, table)) })
      return {
        schema: { store: 'postgres', version },
        revision: (await counterOf(query, await changesSequence(query))) ?? 0,
        tables,
        async *pages() {
          for (const table of tables) for await (const rows of rowsIn(query, table)) yield { table, rows }
        },
        async close() {
          abandon()
          await close()
        },
      }
    } catch (error) {
      abandon()
      throw error
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function versionOf(query: Query): Promise<number> {
  const [found] = await query(`SELECT to_regclass('switchboard') IS NOT NULL AS it`)
  if (!found?.it) throw new StoreError('unavailable', 'the database contains no store of Switchboard')
  const [row] = await query('SELECT version FROM switchboard')
  return knownSchemaVersion(Number(row?.version), MIGRATIONS.length)
}

/** What a server writes while the data is copied would be lost. */
async function requireAlone(query: Query): Promise<void> {
  const [others] = await query(`
    SELECT count(*) AS n FROM pg_stat_activity
    WHERE application_name = 'switchboard' AND datname = current_database() AND pid <> pg_backend_pid()`)
  if (Number(others?.n) === 0) return
  throw new StoreError(
    'locked',
    `${others?.n} connections of Switchboard to the source are open: stop all servers that use it`,
  )
}

/** Columns that only this kind of store has; they are computed from others. */
const DERIVED: ReadonlySet<string> = new Set(['agents.memory'])

/** The tables of a store that exist in the current schema, with their columns. */
export async function listTables(query: Query): Promise<PostgresTable[]> {
  const all = await query(
    `SELECT c.relname AS name, a.attname AS column, format_type(a.atttypid, NULL) AS type,
       pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname) AS sequence
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname = ANY ($1)
       AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid <> 'xid8'::regtype
     ORDER BY c.relname COLLATE "C", a.attnum`,
    [ownTables(MIGRATIONS)],
  )
  const columns = all.filter(({ name, column }) => !DERIVED.has(`${name}.${column}`))
  return [...new Set(columns.map(({ name }) => String(name)))].map((name) => {
    const its = columns.filter((column) => column.name === name)
    const sequence = its.find((column) => column.sequence !== null)?.sequence
    return {
      name,
      columns: its.map(({ column }) => String(column)),
      types: its.map(({ type }) => String(type)),
      ...(sequence !== undefined && { sequence: String(sequence) }),
    }
  })
}

/** The sequence of revisions. */
export async function changesSequence(query: Query): Promise<string> {
  const [row] = await query(`SELECT pg_get_serial_sequence('changes', 'revision') AS sequence`)
  return String(row?.sequence)
}

async function countRows(query: Query, { name, sequence }: PostgresTable): Promise<{ rows: number; counter?: number }> {
  const [row] = await query(`SELECT count(*) AS n FROM ${name}`)
  const counter = sequence === undefined ? undefined : await counterOf(query, sequence)
  return { rows: Number(row?.n), ...(counter !== undefined && { counter }) }
}

/** The last number that a sequence gave; undefined if it gave none. */
export async function counterOf(query: Query, sequence: string): Promise<number | undefined> {
  const [row] = await query(`SELECT last_value, is_called FROM ${sequence}`)
  return row?.is_called ? Number(row.last_value) : undefined
}

async function* rowsIn(
  query: Query,
  { name, columns, types }: PostgresTable,
): AsyncGenerator<readonly StoredValue[][]> {
  await query(`DECLARE source NO SCROLL CURSOR FOR SELECT ${columns.join(', ')} FROM ${name} ORDER BY ${columns[0]}`)
  yield* readPages(async (limit) => {
    const rows = await query(`FETCH ${limit} FROM source`)
    return rows.map((row) => columns.map((column, i) => toValue(row[column], types[i] ?? '', `${name}.${column}`)))
  })
  await query('CLOSE source')
}

/** The driver returns bigint as text. */
function toValue(value: unknown, type: string, column: string): StoredValue {
  if (value === null || typeof value === 'number' || value instanceof Uint8Array) return value
  if (typeof value === 'string') return type === 'bigint' ? Number(value) : value
  throw new StoreError('unavailable', `the column ${column} contains a value of an unexpected type`)
}
