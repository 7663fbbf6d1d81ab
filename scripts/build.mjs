// Builds everything that is generated from sources: the packages, the lexicon, the console and the documentation site. The console is
// bundled from what tsc has written. Exits with 1 if a step fails, after all steps have run: tsc writes its output in spite
// of type errors.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './tree.mjs'

const STEPS = [
  ['node_modules/typescript/bin/tsc', '-b'],
  ['packages/search/scripts/build-lexicon.mjs'],
  ['packages/console/scripts/build.mjs'],
  ['scripts/docs/build.mjs'],
]

const failed = STEPS.filter(([script, ...args]) => {
  const { status } = spawnSync(process.execPath, [join(ROOT, script), ...args], { cwd: ROOT, stdio: 'inherit' })
  return status !== 0
})
process.exitCode = failed.length === 0 ? 0 : 1
