// The whole test: lint and format, the rooms, the types of the tests, the tests. Every step runs, so that one call shows
// all there is to mend; the exit code is that of the first step that failed. Arguments go to vitest: npm test -- path
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, TEST_REPORT } from './tree.mjs'

const vitestArguments = process.argv.slice(2)
const tool = (path) => join(ROOT, 'node_modules', path)

/** The report of a run of some tests only would hide the others from coverage:spec: then the last complete one stays. */
function reporters() {
  if (vitestArguments.length > 0) return []
  rmSync(TEST_REPORT, { force: true })
  return ['--reporter=default', '--reporter=json', `--outputFile.json=${TEST_REPORT}`]
}

const STEPS = {
  'lint and format': [tool('@biomejs/biome/bin/biome'), 'check', '.'],
  rooms: [join(ROOT, 'scripts/check-rooms.mjs')],
  'types of the tests': [tool('typescript/bin/tsc'), '-p', 'tsconfig.test.json'],
  tests: [tool('vitest/vitest.mjs'), 'run', ...reporters(), ...vitestArguments],
}

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
