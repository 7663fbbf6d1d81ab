import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ROOT } from '../scripts/tree.mjs'
import { judgeVectors } from './pending.mjs'

const work = mkdtempSync(join(tmpdir(), 'switchboard-summary-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const NAMES =
  'tools prepare test test-slow test-engine-postgres test-hostile coverage-spec conformance audit sizes packages first-minutes next-node test-next-node start-next-node'.split(
    ' ',
  )
const report = (passed, failed) => ({ numPassedTests: passed, numFailedTests: failed, testResults: [] })

function summarise(codes = {}, { slow = report(3, 0), vectors = ['passed', 'passed'] } = {}) {
  const steps = NAMES.map((name) => `${name}\t${codes[name] ?? 0}\n`)
  const results = vectors.map((status, n) => ({ id: `HTTP-${n}`, status }))
  writeFileSync(join(work, 'steps'), steps.join(''))
  writeFileSync(join(work, 'vitest.json'), JSON.stringify(report(100, 0)))
  writeFileSync(join(work, 'vitest-slow.json'), JSON.stringify(slow))
  writeFileSync(join(work, 'vitest-next-node.json'), JSON.stringify(report(50, 0)))
  writeFileSync(join(work, 'vitest-engine-postgres.json'), JSON.stringify(report(20, 0)))
  writeFileSync(join(work, 'conformance.json'), JSON.stringify({ results }))
  const args = [join(ROOT, '.ci/summary.mjs'), work, work]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { status, lastLine: stdout.trimEnd().split('\n').at(-1) }
}

it('adds up every report', () => {
  expect(summarise()).toEqual({ status: 0, lastLine: '175 passed, 0 failed' })
})

it('counts failed tests, failed vectors and failed steps', () => {
  const failed = { slow: report(2, 1), vectors: ['passed', 'failed'] }
  expect(summarise({ 'test-slow': 1, 'coverage-spec': 1 }, failed)).toEqual({
    status: 3,
    lastLine: '173 passed, 3 failed',
  })
})

it('counts a test file that could not be loaded', () => {
  const testResults = [{ name: 'broken.test.ts', status: 'failed', assertionResults: [] }]
  const slow = { ...report(2, 0), testResults }
  expect(summarise({ 'test-slow': 1 }, { slow })).toEqual({ status: 3, lastLine: '174 passed, 1 failed' })
})

it('lets a pending vector fail, and nothing else', () => {
  const pending = new Map([
    ['A', 'not built yet'],
    ['B', ''],
    ['C', 'passes by now'],
  ])
  const results = ['A', 'B', 'D'].map((id) => ({ id, status: 'failed' })).concat({ id: 'C', status: 'passed' })
  expect(judgeVectors(results, pending)).toEqual({
    passed: 0,
    failed: 3,
    notes: [
      'D fails',
      'pending: A  not built yet',
      'B is pending without a reason',
      'C is pending but passed: remove it from .ci/pending',
    ],
  })
})
