// Adds up the results of .ci/run and ends with `N passed, N failed`. The exit code is 3 if anything failed, to tell that
// apart from an error in this program.
// usage: node .ci/summary.mjs FOLDER [REPORTS]; FOLDER holds `steps` (name, tab, exit code) and the reports of CI's own
// steps, REPORTS those of `npm test` and `npm run test:slow`
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, ROOT } from '../scripts/tree.mjs'
import { judgeVectors, readPending } from './pending.mjs'

const [work, reports = CACHE] = process.argv.slice(2)

/** The steps in order. Those that count something have a report and a function that reads it: {passed, failed, notes}. */
const STEPS = {
  tools: {},
  prepare: {},
  test: { report: join(reports, 'vitest.json'), read: readTests },
  'test-slow': { report: join(reports, 'vitest-slow.json'), read: readTests },
  'test-engine-postgres': { report: join(work, 'vitest-engine-postgres.json'), read: readTests },
  'test-hostile': {},
  'coverage-spec': {},
  conformance: { report: join(work, 'conformance.json'), read: readVectors, decides: true },
  audit: {},
  sizes: {},
  packages: {},
  'first-minutes': {},
  'next-node': {},
  'test-next-node': { report: join(work, 'vitest-next-node.json'), read: readTests },
  'start-next-node': {},
}

function readTests({ numPassedTests, numFailedTests, testResults }) {
  // A file that could not be loaded has failed without a failed test.
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const notes = broken.map(({ name }) => `could not be loaded: ${name}`)
  return { passed: numPassedTests, failed: numFailedTests + broken.length, notes }
}

function readVectors({ results }) {
  return judgeVectors(results, readPending(join(ROOT, '.ci/pending')))
}

const stepsFile = join(work, 'steps')
const lines = existsSync(stepsFile) ? readFileSync(stepsFile, 'utf8').trim().split('\n') : []
const codes = new Map(lines.map((line) => line.split('\t')).map(([name, code]) => [name, Number(code)]))

function judgeStep(name, { report, read, decides }) {
  const code = codes.get(name)
  if (code === undefined) return { passed: 0, failed: 1, notes: ['did not run'] }
  const counts = { passed: 0, failed: 0, notes: [] }
  if (report && existsSync(report)) Object.assign(counts, read(JSON.parse(readFileSync(report, 'utf8'))))
  else if (report) counts.notes.push('left no report')
  // The conformance runner does not know .ci/pending, so its report decides, not its exit code.
  const ok = decides ? existsSync(report) : code === 0
  if (!ok) counts.notes.push(code === 124 ? 'ran out of time' : `ended with ${code}`)
  if (!ok && counts.failed === 0) counts.failed = 1
  return counts
}

const total = { passed: 0, failed: 0 }
console.log()
for (const [name, step] of Object.entries(STEPS)) {
  const { passed, failed, notes } = judgeStep(name, step)
  total.passed += passed
  total.failed += failed
  console.log(
    `${failed === 0 ? 'ok    ' : 'FAILED'}  ${name}${step.report ? `: ${passed} passed, ${failed} failed` : ''}`,
  )
  for (const note of notes) console.log(`        ${note}`)
}
if (total.failed > 0) process.exitCode = 3
console.log(`${total.passed} passed, ${total.failed} failed`)
