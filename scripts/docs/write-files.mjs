// Writes built files with compressed copies beside them, and removes those of earlier builds.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { below, isFile } from '../tree.mjs'

/** Not compressed again. */
const COMPRESSED = /\.(png|webp|gif|woff2)$/
/** Below this many bytes, compression saves no packet. */
const MIN_COMPRESSED_BYTES = 1024
/** The best quality takes ten times as long, for a few percent. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

/** The name of a file below `assets/`, with a digest of its content: such files never change, so browsers keep them. */
export function hashedName(name, content) {
  const extension = extname(name)
  const digest = createHash('sha256').update(content).digest('base64url').slice(0, 10)
  return `assets/${name.slice(0, name.length - extension.length)}-${digest}${extension}`
}

/** Makes the folder contain exactly these files (name → content) and their compressed copies. Unchanged ones are left alone. */
export async function writeFiles(folder, files) {
  const kept = new Set()
  await Promise.all(
    Array.from(files, async ([name, content]) => {
      const path = join(folder, name)
      const bytes = Buffer.from(content)
      const packed = !COMPRESSED.test(name) && bytes.length >= MIN_COMPRESSED_BYTES
      const paths = packed ? [path, `${path}.br`, `${path}.gz`] : [path]
      for (const each of paths) kept.add(each)
      if (paths.every(isFile) && readFileSync(path).equals(bytes)) return
      mkdirSync(dirname(path), { recursive: true })
      if (packed) {
        const [br, gz] = await Promise.all([
          promisify(brotliCompress)(bytes, BROTLI),
          promisify(gzip)(bytes, { level: 9 }),
        ])
        replaceFile(`${path}.br`, br)
        replaceFile(`${path}.gz`, gz)
      }
      replaceFile(path, bytes) // last: its presence says that the copies are complete
    }),
  )
  for (const { path, folder: isFolder } of below(folder))
    if (!isFolder && !kept.has(path)) rmSync(path, { force: true })
  return Array.from(kept, (path) => relative(folder, path))
}

/** A server that runs meanwhile never reads half a file. */
function replaceFile(path, bytes) {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, bytes)
  renameSync(temporary, path)
}
