// Where things are in this repository, for the scripts beside this file.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Stamps and reports; inside node_modules, so that a fresh install starts without them. */
export const CACHE = join(ROOT, 'node_modules/.cache/switchboard')

/** The report of the last complete test run. */
export const TEST_REPORT = join(CACHE, 'vitest.json')

/** Folders of the packages, as absolute paths. */
export const packageFolders = () => {
  const packages = join(ROOT, 'packages')
  return readdirSync(packages)
    .map((name) => join(packages, name))
    .filter((folder) => isFile(join(folder, 'package.json')))
}

/** Every file and folder below a folder, itself included; nothing where there is no such folder. */
export function* below(folder) {
  let entries
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOENT') return
    throw error
  }
  yield { path: folder, folder: true }
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* below(path)
    else yield { path, folder: false }
  }
}

/** Whether a path is a file. */
export const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
