import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config/settings.js'
import { connect } from './store/postgres/connect.js'
import { isLocked } from './store/sqlite/lock-folder.js'
import { FILE } from './store/sqlite/private-files.js'
import { readSqliteTables } from './store/sqlite/read-tables.js'

/** The state of an embedded store. */
export interface FolderState {
  /** False before the first start. */
  readonly hasStore: boolean
  /** Whether a server is using it. */
  readonly isLocked: boolean
  readonly agents: number
}

/** Looks at the store of a folder without changing it; throws a `StoreError` if it is damaged or of a newer version. */
export async function inspectFolder(folder: string): Promise<FolderState> {
  if (!existsSync(join(folder, FILE))) return { hasStore: false, isLocked: false, agents: 0 }
  const reader = readSqliteTables(folder)
  try {
    const agents = reader.tables.find(({ name }) => name === 'agents')?.rows ?? 0
    return { hasStore: true, isLocked: isLocked(folder), agents }
  } finally {
    await reader.close()
  }
}

/** The state of a PostgreSQL server. */
export interface DatabaseState {
  readonly version: string
  /** Whether the tables of the store can be created and changed. */
  readonly isWritable: boolean
  readonly hasPgvector: boolean
  /** Milliseconds since 1970, by its clock. */
  readonly now: number
}

/** Connects to a database; throws a `StoreError` if that fails. */
export async function inspectDatabase(url: string): Promise<DatabaseState> {
  const connection = connect(url, 1)
  try {
    const [row] = await connection.query(`SELECT current_setting('server_version') AS version,
      has_schema_privilege(current_schema(), 'CREATE') AND NOT pg_is_in_recovery() AS writable,
      EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') AS pgvector,
      EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS now`)
    return {
      version: String(row?.version),
      isWritable: row?.writable === true,
      hasPgvector: row?.pgvector === true,
      now: Number(row?.now),
    }
  } finally {
    await connection.close()
  }
}

/** What the directory embeds texts with, once it is loaded; throws an `EmbeddingError` if it cannot be. */
export async function tryModel({ search: { semantic, embedder } }: Pick<Config, 'search'>): Promise<string> {
  if (!semantic || embedder === 'none') return 'not used: searches by words only'
  if (embedder === 'static') return 'not used: searches by words and the static embedding'
  if (typeof embedder !== 'string' && 'url' in embedder) return `${embedder.model} at ${embedder.url}`
  const { createBuiltInEmbedder, createOnnxFolderEmbedder } = await import('@switchboard/search')
  const model = await (typeof embedder === 'string'
    ? createBuiltInEmbedder()
    : createOnnxFolderEmbedder(embedder.folder))
  try {
    await model.embed(['a test'])
    return `${model.id}, ${model.dimensions} dimensions`
  } finally {
    await model.close()
  }
}
