import { createHash } from 'node:crypto'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { writeLine } from '@switchboard/protocol'
import { headerLine, toJsonRow } from './backup-lines.js'
import type { CopyOptions } from './copy-tables.js'
import type { CopiedTable, TableReader } from './tables.js'

/** Writes the content of a store to a stream, and ends it. */
export async function writeBackup(
  from: TableReader,
  target: Writable,
  { createdAt, signal, onProgress }: Pick<CopyOptions, 'signal' | 'onProgress'> & { readonly createdAt: string },
): Promise<void> {
  const source = Readable.from(linesOf(from, createdAt, onProgress), { objectMode: true, highWaterMark: 1 })
  await pipeline(source, createGzip(), target, { ...(signal && { signal }) })
}

/** Several lines at a time. */
async function* linesOf(
  from: TableReader,
  createdAt: string,
  onProgress: CopyOptions['onProgress'],
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const hashed = (text: string): Buffer => {
    const bytes = Buffer.from(text)
    hash.update(bytes)
    return bytes
  }
  yield hashed(writeLine(headerLine({ ...from, createdAt })))
  let rows = 0
  let current: CopiedTable | undefined
  for await (const page of from.pages()) {
    if (page.table !== current) yield hashed(writeLine({ table: page.table.name }))
    current = page.table
    yield hashed(page.rows.map((row) => writeLine(toJsonRow(row))).join(''))
    rows += page.rows.length
    onProgress?.(rows)
  }
  yield Buffer.from(writeLine({ rows, sha256: hash.digest('hex') }))
}
