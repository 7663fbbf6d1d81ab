import { createReadStream } from 'node:fs'
import { UsageError } from '../usage.js'

/** Bytes of a whole document or list of them; longer ones are read as lines. */
const MAX_BYTES = 64 * 1024 * 1024

/** The text of a file, or of stdin if the name is "-". */
export async function readText(name: string): Promise<string> {
  const source = name === '-' ? process.stdin : createReadStream(name)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > MAX_BYTES) throw new UsageError(`${name} is longer than ${MAX_BYTES} bytes: send lines, as .ndjson`)
      chunks.push(bytes)
    }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${name} cannot be read: ${reasonOf(error)}`)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** What the system says, without the path that the message names already. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)
