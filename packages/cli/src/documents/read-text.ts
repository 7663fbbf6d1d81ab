import { createReadStream } from 'node:fs'
import { UsageError } from '../usage.js'

/** Maximum bytes of a file that is read at once. Lines of JSON have no such limit. */
const MAX_BYTES = 64 * 1024 * 1024

/** Reads a file, or stdin if the name is "-". */
export async function readText(name: string): Promise<string> {
  const source = name === '-' ? process.stdin : createReadStream(name)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > MAX_BYTES)
        throw new UsageError(`${name}: is larger than ${MAX_BYTES} bytes: use lines of JSON in an .ndjson file`)
      chunks.push(bytes)
    }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${name}: cannot be read (${reasonOf(error)})`)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The system's error code; its message would repeat the path. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)
