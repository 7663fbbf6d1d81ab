import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { reasonOf } from '../documents/read-text.js'
import { CommandError, UsageError } from '../usage.js'

/**
 * Writes a new file that only its owner can read; "-" is stdout. The file gets its name when it is complete and on the
 * disk, so that nobody takes a part for the whole.
 */
export async function writeNewFile<Result>(
  file: string,
  write: (target: Writable) => Promise<Result>,
): Promise<Result> {
  if (file === '-') return write(process.stdout)
  if (existsSync(file)) throw new UsageError(`${file} already exists: remove it, or name another file`)
  const partial = `${file}.partial`
  await rm(partial, { force: true })
  const target = createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true })
  let failure: Error | undefined
  target.once('error', (error) => {
    failure = error
  })
  try {
    const result = await write(target)
    await rename(partial, file)
    return result
  } catch (error) {
    target.destroy()
    await rm(partial, { force: true })
    throw failure && failure === error ? new CommandError(`${file} cannot be written (${reasonOf(failure)})`) : error
  }
}
