// Counts the requirements of the drafts that have a passing test: npm run coverage:spec [-- --missing] [-- --reports FOLDER]
// With --write, it also writes docs/conformance.md, which lists the tests of every requirement.
// A test names its requirements at the start of its title. The count is taken from the reports of the last complete
// `npm test` and `npm run test:slow`. The last line is `N of <all>`, or says why there is no count; then the exit code is 1.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { readTestsOfRequirements, toConformance } from './docs/references/conformance.mjs'
import { createIdReader, readRequirements, readUntestable, sectionOf } from './requirements.mjs'
import { countRequirements, findGaps, readTests } from './spec-coverage.mjs'
import { CACHE, isFile, ROOT, sourceFiles, TEST_REPORTS } from './tree.mjs'

const { values: options } = parseArgs({
  options: { missing: { type: 'boolean' }, write: { type: 'boolean' }, reports: { type: 'string', default: CACHE } },
})
const fromRoot = (path) => relative(ROOT, path)

const reports = TEST_REPORTS.map(({ command, file }) => {
  const path = join(options.reports, file)
  if (!isFile(path)) return { command, files: [], tests: [] }
  const report = JSON.parse(readFileSync(path, 'utf8'))
  return {
    command,
    startTime: report.startTime,
    files: report.testResults.map(({ name }) => fromRoot(name)),
    tests: readTests(report).map((test) => ({ ...test, file: fromRoot(test.file) })),
  }
})
const sources = sourceFiles().map((path) => ({ path: fromRoot(path), changed: statSync(path).mtimeMs }))
const testFiles = sources.map(({ path }) => path).filter((path) => /\.test\.(ts|mjs)$/.test(path))

const requirements = readRequirements()
const untestable = readUntestable()
const { covered, mistakes } = countRequirements(
  reports.flatMap(({ tests }) => tests),
  { requirements, untestable, idsOf: createIdReader(new Set(requirements)) },
)

function printSections() {
  for (const section of new Set(requirements.map(sectionOf))) {
    const ids = requirements.filter((id) => sectionOf(id) === section)
    console.log(`${section} ${ids.filter((id) => covered.has(id)).length} of ${ids.length}`)
    const missing = ids.filter((id) => !covered.has(id) && !untestable.has(id))
    if (options.missing && missing.length > 0) console.log(`  missing: ${missing.join(', ')}`)
  }
  if (untestable.size > 0) console.log('\nnot testable here')
  for (const [id, reason] of untestable) console.log(`${id}  ${reason}`)
  console.log()
}

const gaps = findGaps({ reports, testFiles, sources })
if (gaps.length === 0) {
  // The page lists tests by their source; whether they pass is known only here.
  const listed = [...readTestsOfRequirements().keys()].filter((id) => requirements.includes(id) && !covered.has(id))
  if (listed.length > 0)
    console.log(`without a passing test, though docs/conformance.md lists one: ${listed.join(', ')}`)
}
if (options.write) writeFileSync(join(ROOT, 'docs/conformance.md'), toConformance())
if (reports.every(({ startTime }) => startTime !== undefined)) printSections()
for (const mistake of mistakes) console.log(`error: ${mistake}`)
if (mistakes.length > 0 || gaps.length > 0) process.exitCode = 1
if (gaps.length === 0) console.log(`${covered.size} of ${requirements.length}`)
else {
  for (const { problem, files } of gaps) {
    if (files.length > 0) console.log(`${problem}: ${files.slice(0, 5).join(', ')}${files.length > 5 ? ', …' : ''}`)
  }
  const commands = TEST_REPORTS.map(({ command }) => `\`${command}\``).join(' and ')
  console.log(`not counted: ${gaps.map(({ problem }) => problem).join('; ')}; run ${commands}`)
}
