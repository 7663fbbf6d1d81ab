// Which requirements of the drafts have a passing test: npm run coverage:spec [-- --missing]
// A test names its requirements at the start of its name. Counted from the report of the last complete `npm test`; where
// there is none, from the names in the test sources. The last line is always `N of <all>`.
import { readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createIdReader, readRequirements, readUntestable, sectionOf } from './requirements.mjs'
import { below, isFile, packageFolders, ROOT, TEST_REPORT } from './tree.mjs'

/** it('…'), test.only("…"), it.each(table)(`…`): the modifiers, then the quoted name. */
const TEST_NAME = /\b(?:it|test)(?:\.\w+)*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g

const testFiles = () =>
  packageFolders()
    .flatMap((folder) => [...below(join(folder, 'src')), ...below(join(folder, 'test'))])
    .map(({ path }) => path)
    .filter((path) => path.endsWith('.test.ts'))

/** Tests of the last run: {file, name, status}. */
function testsOfReport() {
  const { startTime, testResults } = JSON.parse(readFileSync(TEST_REPORT, 'utf8'))
  console.log(`counted from the test run of ${new Date(startTime).toISOString()}`)
  const newer = testFiles().filter((path) => statSync(path).mtimeMs > startTime)
  if (newer.length > 0) console.log(`warning: ${newer.length} test files have changed since; run npm test again`)
  return testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults.map(({ title, status }) => ({ file, name: title, status })),
  )
}

/** Tests by their names in the sources; whether they pass is not known. */
function testsOfSources() {
  console.log('there is no report of a complete test run: counted by names only, whether the tests pass is not known')
  return testFiles().flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(TEST_NAME)].map((match) => ({ file, name: match[2], status: 'passed' })),
  )
}

/** Ids with a passing test and no failing one, and what is wrong. */
function judge(tests, known, untestable) {
  const idsOf = createIdReader(known)
  const passed = new Set()
  const failed = new Set()
  const problems = []
  for (const { file, name, status } of tests) {
    for (const id of idsOf(name)) {
      if (!known.has(id)) problems.push(`${relative(ROOT, file)}: there is no requirement ${id} ("${name}")`)
      if (status === 'passed') passed.add(id)
      if (status === 'failed') failed.add(id)
    }
  }
  const covered = new Set([...passed].filter((id) => known.has(id) && !failed.has(id)))
  for (const [id, reason] of untestable) {
    if (!known.has(id)) problems.push(`spec/untestable.md: there is no requirement ${id}`)
    if (!reason) problems.push(`spec/untestable.md: ${id} has no reason`)
    if (covered.has(id)) problems.push(`spec/untestable.md: ${id} has a passing test`)
  }
  return { covered, problems }
}

function report(requirements, covered, untestable, showMissing) {
  for (const section of new Set(requirements.map(sectionOf))) {
    const ids = requirements.filter((id) => sectionOf(id) === section)
    console.log(`${section} ${ids.filter((id) => covered.has(id)).length} of ${ids.length}`)
    const missing = ids.filter((id) => !covered.has(id) && !untestable.has(id))
    if (showMissing && missing.length > 0) console.log(`  missing: ${missing.join(', ')}`)
  }
  if (untestable.size > 0) console.log('\nnot testable here')
  for (const [id, reason] of untestable) console.log(`${id}  ${reason}`)
}

const requirements = readRequirements()
const known = new Set(requirements)
const untestable = readUntestable()
const { covered, problems } = judge(isFile(TEST_REPORT) ? testsOfReport() : testsOfSources(), known, untestable)
report(requirements, covered, untestable, process.argv.includes('--missing'))
console.log()
for (const problem of problems) console.log(`error: ${problem}`)
if (problems.length > 0) process.exitCode = 1
console.log(`${covered.size} of ${requirements.length}`)
