// Runs the tests: npm test [-- arguments of vitest], npm run test:slow [-- arguments of vitest]
// `npm test` also checks lint and format, the rooms and the types of the tests. Every step runs, so that one call shows
// everything to fix; the exit code is that of the first step that failed.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, ROOT, TEST_REPORTS } from './tree.mjs'

const isSlow = process.argv[2] === '--slow'
const vitestArguments = process.argv.slice(isSlow ? 3 : 2)
const tool = (path) => join(ROOT, 'node_modules', path)

/** Arguments for vitest. Only a complete run replaces the report for coverage:spec; a partial one would hide other tests. */
function testArguments() {
  if (vitestArguments.length > 0) return isSlow ? ['--project=slow', ...vitestArguments] : vitestArguments
  const { project, file } = TEST_REPORTS.find((report) => (report.project === 'slow') === isSlow)
  const path = join(CACHE, file)
  rmSync(path, { force: true })
  return [`--project=${project}`, '--reporter=default', '--reporter=json', `--outputFile.json=${path}`]
}

const CHECKS = {
  'lint and format': [tool('@biomejs/biome/bin/biome'), 'check', '.'],
  rooms: [join(ROOT, 'scripts/check-rooms.mjs')],
  'types of the tests': [tool('typescript/bin/tsc'), '-p', 'tsconfig.test.json'],
}
const STEPS = { ...(isSlow ? {} : CHECKS), tests: [tool('vitest/vitest.mjs'), 'run', ...testArguments()] }

const results = Object.entries(STEPS).map(([name, args]) => {
  const started = Date.now()
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
  return { name, code: status ?? 1, seconds: (Date.now() - started) / 1000 }
})

console.log()
for (const { name, code, seconds } of results) {
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'}  ${name} (${seconds.toFixed(1)} s)`)
}
process.exitCode = results.find(({ code }) => code !== 0)?.code ?? 0
