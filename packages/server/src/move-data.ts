import type { Readable, Writable } from 'node:stream'
import { memoryOf } from './policy/quota.js'
import type { BackupHeader } from './store/backup/backup-lines.js'
import { type CopyOptions, copyTables } from './store/backup/copy-tables.js'
import { readBackup } from './store/backup/read-backup.js'
import type { TableReader, TableWriter } from './store/backup/tables.js'
import { writeBackup } from './store/backup/write-backup.js'
import { readPostgresTables } from './store/postgres/read-tables.js'
import { writePostgresTables } from './store/postgres/write-tables.js'
import { readSqliteTables } from './store/sqlite/read-tables.js'
import { writeSqliteTables } from './store/sqlite/write-tables.js'

/** Where a directory has its data: a folder, or a PostgreSQL database. */
export type DataPlace = { readonly folder: string } | { readonly database: string }

export interface MoveOptions {
  readonly signal?: AbortSignal
  /** Called with the number of rows done so far and in total. */
  readonly onProgress?: (rows: number, total: number) => void
}

/** What was moved. */
export interface MovedData {
  readonly agents: number
  /** Rows of all tables. */
  readonly rows: number
  /** Rows with secrets, which only a directory with the same SWITCHBOARD_SECRET can decrypt. */
  readonly sealed: number
}

/**
 * Revisions that are left out after a restore. They may have been given after the backup was made; given again to other
 * states, they would deceive caches and replicas.
 */
const REVISION_GAP = 1_000_000_000

/** Writes everything that a directory has stored to a stream, from one snapshot; servers may go on writing. */
export async function backUpData(
  place: DataPlace,
  target: Writable,
  { embeddings = true, ...options }: MoveOptions & { readonly embeddings?: boolean } = {},
): Promise<MovedData> {
  const all = await openReader(place, false)
  const from = embeddings ? all : withoutTable(all, 'vectors')
  try {
    await writeBackup(from, target, { createdAt: new Date().toISOString(), ...copyOptions(from, options) })
    return summaryOf(from)
  } finally {
    await from.close()
  }
}

/** Restores a backup: completely, or not at all. */
export async function restoreData(
  source: Readable,
  place: DataPlace,
  { replace = false, ...options }: MoveOptions & { readonly replace?: boolean } = {},
): Promise<MovedData> {
  const from = await readBackup(source)
  try {
    await copyInto(from, place, { replace, revisionGap: REVISION_GAP, ...copyOptions(from, options) })
    return summaryOf(from)
  } finally {
    await from.close()
  }
}

/** Reads a whole backup and throws if it is damaged; returns what a restore would restore. */
export async function verifyBackup(
  source: Readable,
  options: MoveOptions = {},
): Promise<MovedData & Pick<BackupHeader, 'createdAt'>> {
  const from = await readBackup(source)
  try {
    let rows = 0
    for await (const page of from.pages()) {
      options.signal?.throwIfAborted()
      rows += page.rows.length
      copyOptions(from, options).onProgress(rows)
    }
    return { ...summaryOf(from), createdAt: from.createdAt }
  } finally {
    await from.close()
  }
}

/** Copies everything into an empty store. Unless `live`, no server may use the source meanwhile. */
export async function migrateData(
  source: DataPlace,
  target: DataPlace,
  { live = false, ...options }: MoveOptions & { readonly live?: boolean } = {},
): Promise<MovedData> {
  const from = await openReader(source, !live)
  try {
    await copyInto(from, target, copyOptions(from, options))
    return summaryOf(from)
  } finally {
    await from.close()
  }
}

async function copyInto(from: TableReader, place: DataPlace, options: CopyOptions): Promise<void> {
  const to = await openWriter(place)
  try {
    await copyTables(from, to, options)
  } finally {
    await to.close()
  }
}

const openReader = async (place: DataPlace, alone: boolean): Promise<TableReader> =>
  'folder' in place ? readSqliteTables(place.folder, { lock: alone }) : readPostgresTables(place.database, { alone })

const openWriter = async (place: DataPlace): Promise<TableWriter> =>
  'folder' in place
    ? writeSqliteTables(place.folder)
    : writePostgresTables(place.database, (document) => memoryOf(JSON.parse(document)))

function copyOptions(
  from: TableReader,
  { signal, onProgress }: MoveOptions,
): { onProgress(rows: number): void; signal?: AbortSignal } {
  const total = rowsOf(from)
  return { onProgress: (rows) => onProgress?.(rows, total), ...(signal && { signal }) }
}

const rowsOf = ({ tables }: TableReader): number => tables.reduce((sum, { rows }) => sum + rows, 0)

function summaryOf(from: TableReader): MovedData {
  const count = (...names: string[]): number =>
    from.tables.reduce((sum, { name, rows }) => sum + (names.includes(name) ? rows : 0), 0)
  return { agents: count('agents'), rows: rowsOf(from), sealed: count('credentials', 'signing_keys', 'tasks') }
}

const withoutTable = (from: TableReader, name: string): TableReader => ({
  ...from,
  tables: from.tables.filter((table) => table.name !== name),
  async *pages() {
    for await (const page of from.pages()) if (page.table.name !== name) yield page
  },
})
