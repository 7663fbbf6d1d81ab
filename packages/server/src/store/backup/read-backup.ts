import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { createByteLineSplitter, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { reasonOf, StoreError } from '../store-error.js'
import { type BackupHeader, damaged, fromJsonRow, readHeader } from './backup-lines.js'
import type { CopiedTable, StoredValue, TablePage, TableReader } from './tables.js'

/** Bytes of a line: the largest rows are results of tasks. */
const MAX_LINE = 256 * 1024 * 1024

/** Bytes of a page, approximately. */
const PAGE_BYTES = 512 * 1024

/** Reads a backup. The pages end with an error if it is damaged or incomplete, so use them only after the last one. */
export async function readBackup(source: Readable): Promise<TableReader & BackupHeader> {
  const lines = linesOf(source)
  const first = await lines.next()
  if (first.done) throw damaged('it is empty')
  const header = readHeader(parse(first.value))
  const hash = createHash('sha256').update(first.value).update('\n')
  return {
    ...header,
    pages: () => pagesOf(header, lines, hash),
    async close() {
      source.destroy()
      await lines.return(undefined)
    },
  }
}

async function* pagesOf(
  { tables }: BackupHeader,
  lines: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<TablePage> {
  const seen = new Map<CopiedTable, number>()
  let table: CopiedTable | undefined
  let page: StoredValue[][] = []
  let [bytes, rows] = [0, 0]
  let end: JsonObject | undefined
  for await (const line of lines) {
    if (end) throw damaged('it continues after its end')
    const value = parse(line)
    const isRow = Array.isArray(value)
    if (table && page.length > 0 && (!isRow || bytes > PAGE_BYTES)) {
      yield { table, rows: page }
      page = []
      bytes = 0
    }
    if (isRow) {
      if (!table) throw damaged('a row belongs to no table')
      page.push(fromJsonRow(value, table))
      seen.set(table, (seen.get(table) ?? 0) + 1)
      bytes += line.length
      rows++
    } else if (isObject(value) && typeof value.sha256 === 'string') {
      end = value
      continue
    } else {
      table = tables.find(({ name }) => isObject(value) && name === value.table)
      if (!table || seen.has(table)) throw damaged('it has a line that is neither a row nor the start of a table')
      seen.set(table, 0)
    }
    hash.update(line).update('\n')
  }
  if (!end) throw damaged('its end is missing')
  if (end.sha256 !== hash.digest('hex')) throw damaged('its checksum does not match')
  const short = tables.find((each) => (seen.get(each) ?? 0) !== each.rows)
  if (end.rows !== rows || short) throw damaged(`it does not have all rows${short ? ` of ${short.name}` : ''}`)
}

async function* linesOf(source: Readable): AsyncGenerator<Uint8Array, undefined, undefined> {
  const splitter = createByteLineSplitter(MAX_LINE, (): never => {
    throw damaged(`a line has more than ${MAX_LINE} bytes`)
  })
  const unzipped = source.pipe(createGunzip())
  // `pipe` does not pass errors on.
  source.once('error', (error) => unzipped.destroy(error))
  try {
    for await (const chunk of unzipped) yield* splitter.push(chunk)
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError('invalid', `the backup cannot be read: ${reasonOf(error)}`, { cause: error })
  }
  if (splitter.end() !== undefined) throw damaged('its last line is cut off')
  return undefined
}

function parse(line: Uint8Array): JsonValue {
  try {
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8'))
  } catch {
    throw damaged('a line is not JSON')
  }
}
