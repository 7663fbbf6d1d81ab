// Paths in this repository, for the scripts beside this file.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Stamps and reports; inside node_modules, so that a fresh install starts without them. */
export const CACHE = join(ROOT, 'node_modules/.cache/switchboard')

/** The vitest project that each command runs, and the report of its last complete run in `CACHE`. */
export const TEST_REPORTS = [
  { command: 'npm test', project: '!slow', file: 'vitest.json' },
  { command: 'npm run test:slow', project: 'slow', file: 'vitest-slow.json' },
]

/** Folders of the packages, as absolute paths. */
export const packageFolders = () => {
  const packages = join(ROOT, 'packages')
  return readdirSync(packages)
    .map((name) => join(packages, name))
    .filter((folder) => isFile(join(folder, 'package.json')))
}

/** Folders of the packages that are published; the others are built into one of them. */
export const publishedFolders = () =>
  packageFolders().filter((folder) => !JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).private)

/** Files that decide what a test run shows: sources and tests of the packages, examples, scripts. */
export const sourceFiles = () =>
  [
    ...packageFolders().flatMap((folder) => [join(folder, 'src'), join(folder, 'test')]),
    join(ROOT, 'examples'),
    join(ROOT, 'scripts'),
    join(ROOT, '.ci'),
  ]
    .flatMap((folder) => [...below(folder)])
    .filter(({ path, folder }) => !folder && !/\/(node_modules|dist)\//.test(path))
    .map(({ path }) => path)

/** Every file and folder below a folder, including the folder; nothing if it does not exist. */
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
