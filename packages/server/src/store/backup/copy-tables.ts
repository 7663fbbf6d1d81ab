import { StoreError } from '../store-error.js'
import type { Table, TableReader, TableWriter } from './tables.js'

export interface CopyOptions {
  /** Replaces what the target contains; otherwise a target that is not empty is an error. */
  readonly replace?: boolean
  /** Revisions to leave out, so that none is given twice if the source lacks the latest changes of the directory. */
  readonly revisionGap?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (rows: number) => void
}

/** Copies a store into another one, whatever their drivers: completely, or not at all. */
export async function copyTables(from: TableReader, to: TableWriter, options: CopyOptions = {}): Promise<void> {
  const { replace = false, revisionGap = 0, signal, onProgress } = options
  if (from.schema.store === to.schema.store && from.schema.version > to.schema.version) {
    throw new StoreError(
      'newer_version',
      `the data has version ${from.schema.version}, but this Switchboard supports only versions up to ${to.schema.version}: upgrade it`,
    )
  }
  const filled = await to.filled()
  if (filled.length > 0 && !replace) {
    throw new StoreError(
      'invalid',
      `the target is not empty (it has ${filled.join(', ')}): --replace deletes its content`,
    )
  }
  const known = new Set(from.tables.map((table) => requireTable(table, to).name))
  if (known.size < from.tables.length) throw new StoreError('invalid', 'the data has a table twice')
  if (filled.length > 0) await to.clear()
  let rows = 0
  for await (const page of from.pages()) {
    signal?.throwIfAborted()
    await to.insert(page.table, page.rows)
    rows += page.rows.length
    onProgress?.(rows)
  }
  for (const { name, counter } of from.tables) if (counter !== undefined) await to.setCounter(name, counter)
  await to.setRevision(from.revision, revisionGap)
  signal?.throwIfAborted()
  await to.commit()
}

/** Columns that the source lacks get their defaults: it is older. */
function requireTable(table: Table, to: TableWriter): Table {
  const target = to.tables.find(({ name }) => name === table.name)
  const unknown = target ? table.columns.find((column) => !target.columns.includes(column)) : undefined
  if (target && unknown === undefined) return target
  const name = unknown === undefined ? table.name : `${table.name}.${unknown}`
  throw new StoreError(
    'newer_version',
    `the data has ${JSON.stringify(name)}, which is not known here: upgrade Switchboard`,
  )
}
