import type { Table, TablePage, TableWriter } from '../backup/tables.js'
import { knownSchemaVersion } from '../schema-version.js'
import { connect, type Query, type Transaction } from './connect.js'
import { MIGRATIONS, migrate } from './migrations.js'
import { changesSequence, counterOf, listTables, type PostgresTable } from './read-tables.js'

/** Bytes of a document, given as JSON, that count towards the quota of its owner. */
export type MemoryOf = (document: string) => number

/**
 * Fills the store in a database. Servers that use it can read meanwhile, and their writes wait; when it is committed, they
 * load everything again.
 */
export async function writePostgresTables(url: string, memoryOf: MemoryOf): Promise<TableWriter> {
  const connection = connect(url, 1, { queryTimeout: 0 })
  let open: Transaction | undefined
  const end = async (): Promise<void> => {
    open?.abandon()
    open = undefined
    await connection.close()
  }
  try {
    // Tables that only a newer Switchboard knows would keep their rows.
    knownSchemaVersion(await connection.transaction(migrate), MIGRATIONS.length)
    const transaction = await connection.begin()
    open = transaction
    const tables = await listTables(transaction.query)
    return {
      ...createWriter(transaction.query, tables, memoryOf),
      async commit() {
        await transaction.commit()
        open = undefined
      },
      close: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

function createWriter(
  query: Query,
  tables: readonly PostgresTable[],
  memoryOf: MemoryOf,
): Omit<TableWriter, 'commit' | 'close'> {
  const names = tables.map(({ name }) => name)
  const setSequence = async (sequence: string, value: number): Promise<void> => {
    const last = (await counterOf(query, sequence)) ?? 0
    if (value > last) await query('SELECT setval($1, $2)', [sequence, value])
  }
  return {
    schema: { store: 'postgres', version: MIGRATIONS.length },
    tables,
    async filled() {
      await query(`LOCK TABLE ${names.join(', ')}, changes IN EXCLUSIVE MODE`)
      const filled: string[] = []
      for (const name of names) if ((await query(`SELECT FROM ${name} LIMIT 1`)).length > 0) filled.push(name)
      return filled
    },
    async clear() {
      // Not TRUNCATE: a server that is loading would see empty tables.
      for (const name of names) await query(`DELETE FROM ${name}`)
    },
    async insert(table, rows) {
      const records = toRecords(table, rows)
      if (table.name !== 'agents') {
        await query(insertInto(table), [JSON.stringify(records)])
        return
      }
      const counted = records.map((agent) => ({ ...agent, memory: memoryOf(String(agent.document)) }))
      await query(insertInto({ ...table, columns: [...table.columns, 'memory'] }), [JSON.stringify(counted)])
    },
    async setCounter(name, counter) {
      const sequence = tables.find((table) => table.name === name)?.sequence
      if (sequence !== undefined) await setSequence(sequence, counter)
    },
    async setRevision(revision, gap) {
      await query('DELETE FROM changes')
      // Every cursor from before this transaction is lost, and none from after it, whatever else is going on in the cluster.
      await query('UPDATE switchboard SET database_id = gen_random_uuid()')
      const sequence = await changesSequence(query)
      await setSequence(sequence, Math.max((await counterOf(query, sequence)) ?? 0, revision) + gap)
    },
  }
}

const insertInto = ({ name, columns }: Table): string =>
  `INSERT INTO ${name} (${columns.join(', ')})
   SELECT ${columns.join(', ')} FROM json_populate_recordset(NULL::${name}, $1::json)`

/** Bytes in the notation of PostgreSQL. */
const toRecords = ({ columns }: Table, rows: TablePage['rows']): Record<string, string | number | null>[] =>
  rows.map((row) =>
    Object.fromEntries(
      row.map((value, i) => [
        columns[i] ?? '',
        value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value,
      ]),
    ),
  )
