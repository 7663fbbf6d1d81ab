/** A value of a column. */
export type StoredValue = string | number | Uint8Array | null

/** A table of a store. */
export interface Table {
  readonly name: string
  readonly columns: readonly string[]
}

/** A table to copy. */
export interface CopiedTable extends Table {
  readonly rows: number
  /** The last number that the database gave to a row of the table: numbers are not given again. */
  readonly counter?: number
}

/** How many migrations a database has had; each kind of store has its own. */
export interface SchemaVersion {
  readonly store: string
  readonly version: number
}

/** The content of a store, from one snapshot. */
export interface TableReader {
  readonly schema: SchemaVersion
  /** The last revision. The change log itself is not copied: whoever follows it has to load everything again. */
  readonly revision: number
  readonly tables: readonly CopiedTable[]
  /** The rows of all tables, in the order of `tables`. */
  pages(): AsyncIterable<TablePage>
  close(): Promise<void>
}

/** Some rows of a table, each with the values of `table.columns`. */
export interface TablePage {
  readonly table: CopiedTable
  readonly rows: readonly (readonly StoredValue[])[]
}

/** Fills a store in one transaction. */
export interface TableWriter {
  readonly schema: SchemaVersion
  readonly tables: readonly Table[]
  /** Names of the tables that have rows. */
  filled(): Promise<string[]>
  clear(): Promise<void>
  insert(table: Table, rows: TablePage['rows']): Promise<void>
  /** Sets the number after which the table continues, unless it is ahead already. */
  setCounter(table: string, counter: number): Promise<void>
  /** Sets the revision after which the change log continues, at least `gap` after the last one that the store had. */
  setRevision(revision: number, gap: number): Promise<void>
  commit(): Promise<void>
  /** Ends without a trace, unless it was committed. */
  close(): Promise<void>
}

/**
 * Names of the tables to copy, in order: those that migrations create, except the change log. A database may have tables
 * of other programs.
 */
export const ownTables = (migrations: readonly string[]): string[] =>
  [...migrations.join('\n').matchAll(/CREATE TABLE (\w+)/g)]
    .map(([, name = '']) => name)
    .filter((name, at, all) => name !== 'changes' && all.indexOf(name) === at)
    .toSorted()

/** Bytes of a page, approximately: documents have up to 256 KiB, results of tasks more, most rows far less. */
const PAGE_BYTES = 512 * 1024
const MAX_ROWS = 1000

/** Pages of similar size, however large the rows are; `next` returns the next rows, at most as many as requested. */
export async function* readPages(
  next: (limit: number) => readonly StoredValue[][] | Promise<readonly StoredValue[][]>,
): AsyncGenerator<readonly StoredValue[][]> {
  for (let limit = 20; ; ) {
    const rows = await next(limit)
    if (rows.length === 0) return
    yield rows
    const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0)
    limit = Math.min(MAX_ROWS, 4 * limit, Math.max(1, Math.floor((PAGE_BYTES * rows.length) / bytes)))
  }
}

const sizeOf = (row: readonly StoredValue[]): number =>
  row.reduce<number>((sum, value) => sum + (typeof value === 'number' || value === null ? 8 : value.length), 1)
