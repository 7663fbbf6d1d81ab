// Builds before tests run. Tests import sources, but the threads and processes that they start (the SQLite writer, the
// embedding model, the command line) run what is built, which must not be older.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './tree.mjs'

/** Global setup of vitest. Type errors do not stop the tests: the build still writes its output. */
export function setup() {
  const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts/build.mjs')], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) console.error('switchboard: the build has errors (see above); the tests run with its output')
}
