// Which requirements have a passing test, counted from vitest's JSON reports.

/** The tests of a report that say something about a requirement: `{ file, name, passed }`. */
export function readTests({ testResults }) {
  return testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed') // not skipped, not todo
      .filter(({ meta }) => !meta?.fails)
      .map(({ title, status }) => ({ file, name: title, passed: status === 'passed' })),
  )
}

/**
 * Why the reports do not describe the tree as it is: `{ problem, files }` each; empty if they do.
 *
 * @param reports for each report `{ command, startTime, files }`, with `startTime` undefined if it does not exist
 * @param testFiles all test files in the tree
 * @param sources every file that can change a result, and when it was changed: `{ path, changed }`
 */
export function findGaps({ reports, testFiles, sources }) {
  const missing = reports.filter(({ startTime }) => startTime === undefined)
  if (missing.length > 0) {
    return missing.map(({ command }) => ({ problem: `no report of a complete \`${command}\``, files: [] }))
  }
  const reported = new Set(reports.flatMap(({ files }) => files))
  const oldest = Math.min(...reports.map(({ startTime }) => startTime))
  const changed = sources.filter((source) => source.changed > oldest).map(({ path }) => path)
  const unreported = testFiles.filter((file) => !reported.has(file))
  const removed = [...reported].filter((file) => !testFiles.includes(file))
  return [
    { problem: `${changed.length} files changed since the test run`, files: changed },
    { problem: `${unreported.length} test files are in no report`, files: unreported },
    { problem: `${removed.length} reported test files no longer exist`, files: removed },
  ].filter(({ files }) => files.length > 0)
}

/**
 * Requirements with a passing test and no failing one, and the mistakes found in test names and in `untestable`.
 *
 * @param requirements the known ids
 * @param untestable id → reason
 * @param idsOf gives the ids at the start of a test's name
 */
export function countRequirements(tests, { requirements, untestable, idsOf }) {
  const known = new Set(requirements)
  const passed = new Set()
  const failed = new Set()
  const mistakes = []
  for (const { file, name, passed: isPassed } of tests) {
    for (const id of idsOf(name)) {
      if (!known.has(id)) mistakes.push(`${file}: there is no requirement ${id} ("${name}")`)
      else (isPassed ? passed : failed).add(id)
    }
  }
  const covered = new Set([...passed].filter((id) => !failed.has(id)))
  for (const [id, reason] of untestable) {
    if (!known.has(id)) mistakes.push(`spec/untestable.md: there is no requirement ${id}`)
    if (!reason) mistakes.push(`spec/untestable.md: ${id} has no reason`)
    if (covered.has(id)) mistakes.push(`spec/untestable.md: ${id} has a passing test`)
  }
  return { covered, mistakes }
}
