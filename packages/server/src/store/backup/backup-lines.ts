import { asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { StoreError } from '../store-error.js'
import type { CopiedTable, SchemaVersion, StoredValue } from './tables.js'

/**
 * A backup is a gzip file of lines of JSON: a header, for each table a line with its name and one line for each row, and
 * a last line with the number of rows and the SHA-256 of all lines before it.
 */
export interface BackupHeader {
  readonly schema: SchemaVersion
  readonly revision: number
  /** RFC 3339. */
  readonly createdAt: string
  readonly tables: readonly CopiedTable[]
}

/** Version of the format; a reader rejects other versions. */
const FORMAT = 1

export const headerLine = ({ schema, revision, createdAt, tables }: BackupHeader): JsonObject => ({
  switchboard_backup: FORMAT,
  schema: { ...schema },
  revision,
  created_at: createdAt,
  tables: tables.map(({ name, columns, rows, counter }) => ({
    name,
    columns: [...columns],
    rows,
    ...(counter !== undefined && { counter }),
  })),
})

export const damaged = (reason: string): StoreError =>
  new StoreError('invalid', `the backup is damaged or incomplete: ${reason}`)

/** Reads the first line of a backup. */
export function readHeader(line: JsonValue): BackupHeader {
  if (!isObject(line) || line.switchboard_backup === undefined) {
    throw new StoreError('invalid', 'the file is not a backup made by switchboard backup')
  }
  if (line.switchboard_backup !== FORMAT) {
    throw new StoreError(
      'newer_version',
      `the format ${line.switchboard_backup} of the backup is not known: upgrade Switchboard`,
    )
  }
  const { revision, tables } = line
  const { store, version } = isObject(line.schema) ? line.schema : {}
  if (typeof store !== 'string' || !isCount(version) || !isCount(revision) || !Array.isArray(tables))
    throw damaged('its header is not complete')
  return {
    schema: { store, version },
    revision,
    createdAt: asString(line.created_at) ?? '',
    tables: tables.map(readTable),
  }
}

function readTable(table: JsonValue): CopiedTable {
  const { name, columns, rows, counter } = isObject(table) ? table : {}
  if (typeof name !== 'string' || !Array.isArray(columns) || !isCount(rows)) throw damaged('its header is not complete')
  return { name, columns: columns.map(String), rows, ...(isCount(counter) && { counter }) }
}

const isCount = (value: JsonValue | undefined): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** A row as JSON; bytes are an object with their base64 text. */
export const toJsonRow = (row: readonly StoredValue[]): JsonValue[] =>
  row.map((value) => (value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value))

export function fromJsonRow(row: readonly JsonValue[], { name, columns }: CopiedTable): StoredValue[] {
  if (row.length !== columns.length) throw damaged(`a row of ${name} has ${row.length} values`)
  return row.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number') return value
    const base64 = isObject(value) ? asString(value.base64) : undefined
    if (base64 === undefined) throw damaged(`a row of ${name} has a value of an unknown type`)
    return Buffer.from(base64, 'base64')
  })
}
