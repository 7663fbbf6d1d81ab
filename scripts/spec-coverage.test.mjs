import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createIdReader } from './requirements.mjs'
import { countRequirements, findGaps, readTests } from './spec-coverage.mjs'
import { ROOT, sourceFiles } from './tree.mjs'

const SUITE = `
  const ok = () => {}
  const wrong = () => { throw new Error('wrong') }

  it('AD-1-01 AD-1-02, AD-1-03 passes', ok)
  it('AD-2-01 fails', wrong)
  it('AD-2-02 passes here', ok)
  it('AD-2-02 fails there', wrong)

  it.skip('AD-3-01 is skipped', ok)
  it.skipIf(true)('AD-3-02 is skipped on a condition', ok)
  it('AD-3-03 skips itself', ({ skip }) => skip())
  it.todo('AD-3-04 is not written')
  it.fails('AD-3-05 is expected to fail', wrong)
  it('AD-3-06 is expected to fail, by an option', { fails: true }, wrong)
  describe.skip('a suite', () => { it('AD-3-07 is skipped with its suite', ok) })

  it.each(['AD-4-01', 'AD-4-02'])('%s from a list', ok)
  it.each([{ id: 'AD-4-03' }])('$id from an object', ok)
  it.each([['AD-4-04', 'x']])('%s of %j from a row', ok)
  it.for([{ id: 'AD-4-05' }])('$id from it.for', ok)
  describe.each(['AD-4-06'])('a suite', (id) => { it(\`\${id} from its parameter\`, ok) })
  it.each\`id | n
    \${'AD-4-07'} | \${1}\`('$id from a template', ok)

  it('a test that mentions AD-5-01 later', ok)
  it('AD-5-2 passes, but is a typo', ok)
`
const REQUIREMENTS = ['1-01', '1-02', '1-03', '2-01', '2-02']
  .concat(['3-01', '3-02', '3-03', '3-04', '3-05', '3-06', '3-07'])
  .concat(['4-01', '4-02', '4-03', '4-04', '4-05', '4-06', '4-07', '5-01'])
  .map((number) => `AD-${number}`)

describe('the count of requirements', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-coverage-'))
  let report

  beforeAll(() => {
    const setup = join(ROOT, 'scripts/vitest-setup.mjs')
    const config = { test: { globals: true, include: ['suite.test.mjs'], setupFiles: [setup] } }
    writeFileSync(join(folder, 'suite.test.mjs'), SUITE)
    writeFileSync(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}`)
    const output = join(folder, 'report.json')
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
    spawnSync(process.execPath, [vitest, 'run', '--root', folder, '--reporter=json', `--outputFile=${output}`])
    report = JSON.parse(readFileSync(output, 'utf8'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const count = (untestable = new Map()) =>
    countRequirements(readTests(report), {
      requirements: REQUIREMENTS,
      untestable,
      idsOf: createIdReader(new Set(REQUIREMENTS)),
    })

  it('takes the ids at the start of a title, and the titles that it.each generates', () => {
    const generated = ['AD-4-01', 'AD-4-02', 'AD-4-03', 'AD-4-04', 'AD-4-05', 'AD-4-06', 'AD-4-07']
    expect([...count().covered].sort()).toEqual(['AD-1-01', 'AD-1-02', 'AD-1-03', ...generated])
  })

  it('reports an id that no requirement has', () => {
    expect(count().mistakes).toEqual([expect.stringContaining('there is no requirement AD-5-2')])
  })

  it('reports rows of the untestable that are wrong', () => {
    const untestable = new Map([
      ['AD-5-01', 'needs two continents'],
      ['AD-2-01', ''],
      ['AD-9-99', 'not in the drafts'],
      ['AD-1-01', 'has a test'],
    ])
    expect(count(untestable).mistakes.filter((mistake) => mistake.startsWith('spec/untestable.md'))).toEqual([
      'spec/untestable.md: AD-2-01 has no reason',
      'spec/untestable.md: there is no requirement AD-9-99',
      'spec/untestable.md: AD-1-01 has a passing test',
    ])
  })
})

describe('the reports that are counted', () => {
  const gapsOf = (change = {}) => {
    const tree = {
      reports: [
        { command: 'npm test', startTime: 1_000, files: ['a.test.ts', 'b.test.ts'] },
        { command: 'npm run test:slow', startTime: 2_000, files: ['c.slow.test.ts'] },
      ],
      testFiles: ['a.test.ts', 'b.test.ts', 'c.slow.test.ts'],
      sources: [
        { path: 'a.ts', changed: 999 },
        { path: 'a.test.ts', changed: 1_000 },
      ],
      ...change,
    }
    return findGaps(tree).map(({ problem, files }) => `${problem}: ${files.join()}`)
  }

  it('together hold every test file, and none is older than the sources', () => {
    expect(gapsOf()).toEqual([])
  })

  it('must exist', () => {
    const reports = [
      { command: 'npm test', startTime: 1_000, files: ['a.test.ts'] },
      { command: 'npm run test:slow', files: [] },
    ]
    expect(gapsOf({ reports })).toEqual(['no report of a complete `npm run test:slow`: '])
  })

  it('are too old once a file has changed since the first of them started', () => {
    const sources = [
      { path: 'a.ts', changed: 1_001 },
      { path: 'b.ts', changed: 1_000 },
    ]
    expect(gapsOf({ sources })).toEqual(['1 files changed since the test run: a.ts'])
  })

  it('are incomplete if a test file is in none of them, and too old if one has been removed', () => {
    expect(gapsOf({ testFiles: ['a.test.ts', 'c.slow.test.ts', 'd.test.ts'] })).toEqual([
      '1 test files are in no report: d.test.ts',
      '1 reported test files no longer exist: b.test.ts',
    ])
  })
})

describe('npm run coverage:spec', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-coverage-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const run = () => {
    const program = join(ROOT, 'scripts/coverage-spec.mjs')
    const { status, stdout } = spawnSync(process.execPath, [program, '--reports', folder], { encoding: 'utf8' })
    return { status, lastLine: stdout.trimEnd().split('\n').at(-1) }
  }
  const writeReports = (startTime) => {
    const tests = [{ title: 'AD-4.2-02 passes', status: 'passed' }]
    const testResults = sourceFiles()
      .filter((name) => name.includes('.test.'))
      .map((name, n) => ({ name, assertionResults: n === 0 ? tests : [] }))
    writeFileSync(join(folder, 'vitest.json'), JSON.stringify({ startTime, testResults }))
    writeFileSync(join(folder, 'vitest-slow.json'), JSON.stringify({ startTime, testResults: [] }))
  }

  it('fails without a report, and says so in its last line', () => {
    const { status, lastLine } = run()
    expect(status).toBe(1)
    expect(lastLine).toMatch(/^not counted: no report of a complete `npm test`/)
  })

  it('ends with the count if the reports are complete', () => {
    writeReports(Date.now() + 60_000)
    expect(run()).toEqual({ status: 0, lastLine: '1 of 630' })
  })

  it('fails if a file is newer than the reports, and says so in its last line', () => {
    writeReports(0)
    const { status, lastLine } = run()
    expect(status).toBe(1)
    expect(lastLine).toMatch(/^not counted: \d+ files changed since the test run/)
  })
})
