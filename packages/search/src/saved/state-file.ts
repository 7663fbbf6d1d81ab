import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'

/** First bytes of a file. */
const MAGIC = Buffer.from('swbindex')
/** Bytes of the header's length, which follows. */
const LENGTH_BYTES = 4
const DIGEST = 'sha256'
const DIGEST_BYTES = 32
/** Bytes copied, hashed and written in one step: about two milliseconds. */
const CHUNK_BYTES = 2 ** 22

const ARRAYS = { Uint8Array, Uint16Array, Uint32Array, Int32Array, Float32Array, Float64Array }
type ArrayName = keyof typeof ARRAYS
type StateArray = InstanceType<(typeof ARRAYS)[ArrayName]>

/** What stands for an array in the header; the arrays follow the header in the same order. */
interface ArrayMarker {
  readonly $: ArrayName
  readonly length: number
}

/** The file is not what `writeState` has written for the same identity; the message says why. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError'
}

/**
 * Writes plain data with typed arrays to a file, in steps, and replaces the file only when all is written. Returns false,
 * and leaves the file as it was, if `isStale` becomes true meanwhile. Only one at a time may write to a path.
 *
 * @param identity what must be equal for the data to be of use when they are read
 */
export async function writeState(
  path: string,
  identity: string,
  state: object,
  isStale: () => boolean,
): Promise<boolean> {
  const arrays: StateArray[] = []
  const header = Buffer.from(
    JSON.stringify({ identity, state }, (_key, value: unknown) => (isStateArray(value) ? mark(value, arrays) : value)),
  )
  const temporary = `${path}.new`
  const file = await open(temporary, 'w', 0o600)
  try {
    const isWhole = await writeParts(file, [lengthBytes(header.length), header, ...arrays], isStale)
    await file.close()
    if (isWhole) await rename(temporary, path)
    return isWhole
  } finally {
    await file.close()
    await rm(temporary, { force: true })
  }
}

async function writeParts(
  file: FileHandle,
  parts: readonly (Buffer | StateArray)[],
  isStale: () => boolean,
): Promise<boolean> {
  const digest = createHash(DIGEST)
  const write = async (bytes: Uint8Array): Promise<void> => {
    digest.update(bytes)
    await file.writeFile(bytes)
  }
  await write(MAGIC)
  for (const part of parts) {
    for (let at = 0; at < part.byteLength; at += CHUNK_BYTES) {
      if (isStale()) return false
      // A copy: a search may change memory that it works in while the bytes are being written.
      await write(
        new Uint8Array(part.buffer, part.byteOffset + at, Math.min(CHUNK_BYTES, part.byteLength - at)).slice(),
      )
    }
  }
  await file.writeFile(digest.digest())
  await file.datasync()
  return !isStale()
}

/**
 * Reads what `writeState` has written. The type is not checked: the identity must say which program has written it.
 *
 * @throws {StateFileError} if the file is damaged or of another identity
 * @throws as the file system does, such as ENOENT
 */
export function readState<T extends object>(path: string, identity: string): T {
  const descriptor = openSync(path, 'r')
  try {
    return readFrom<T>(createReader(descriptor), identity)
  } finally {
    closeSync(descriptor)
  }
}

function readFrom<T extends object>(reader: Reader, identity: string): T {
  if (!MAGIC.equals(reader.take(MAGIC.length))) throw new StateFileError('it is not a saved index')
  const { state, identity: written } = parseHeader(reader)
  if (written !== identity) throw new StateFileError('it was saved by another version, or with other words or models')
  reader.finish()
  return state as T
}

function parseHeader(reader: Reader): { state: unknown; identity: unknown } {
  const length = reader.take(LENGTH_BYTES).readUInt32LE()
  const text = reader.take(length).toString()
  try {
    // Arrays are met in the order in which they were written.
    return JSON.parse(text, (_key, value: unknown) => (isMarker(value) ? reader.takeArray(value) : value))
  } catch (error) {
    throw error instanceof StateFileError ? error : new StateFileError('it is damaged: the header cannot be read')
  }
}

interface Reader {
  take(length: number): Buffer<ArrayBuffer>
  takeArray(marker: ArrayMarker): StateArray
  /** Checks the digest of everything that was taken. */
  finish(): void
}

function createReader(descriptor: number): Reader {
  let left = fstatSync(descriptor).size - DIGEST_BYTES
  const digest = createHash(DIGEST)

  const fill = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(descriptor, bytes, at, Math.min(CHUNK_BYTES, bytes.length - at), null)
      if (count === 0) throw new StateFileError('it is damaged: its end is missing')
      at += count
    }
  }
  const take = (length: number): Buffer<ArrayBuffer> => {
    left -= length
    if (left < 0) throw new StateFileError('it is damaged: its end is missing')
    const bytes = Buffer.alloc(length)
    fill(bytes)
    digest.update(bytes)
    return bytes
  }

  return {
    take,
    takeArray({ $, length }) {
      const Type = ARRAYS[$]
      return new Type(take(length * Type.BYTES_PER_ELEMENT).buffer)
    },
    finish() {
      if (left !== 0) throw new StateFileError('it is damaged: it is too long')
      const expected = Buffer.alloc(DIGEST_BYTES)
      fill(expected)
      if (!digest.digest().equals(expected)) throw new StateFileError('it is damaged: its digest is wrong')
    },
  }
}

function lengthBytes(length: number): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES)
  bytes.writeUInt32LE(length)
  return bytes
}

function mark(array: StateArray, arrays: StateArray[]): ArrayMarker {
  arrays.push(array)
  return { $: array.constructor.name as ArrayName, length: array.length }
}

const isStateArray = (value: unknown): value is StateArray =>
  Object.values(ARRAYS).some((Type) => value instanceof Type)

const isMarker = (value: unknown): value is ArrayMarker =>
  typeof value === 'object' && value !== null && '$' in value && typeof value.$ === 'string' && value.$ in ARRAYS
