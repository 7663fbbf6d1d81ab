// docs/conformance.md: every requirement of the drafts with the tests that name it. `npm run coverage:spec` checks that they pass.
import { readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { ID_IN_TEXT, readRequirementRows, readUntestable, sectionOf } from '../../requirements.mjs'
import { ROOT, sourceFiles } from '../../tree.mjs'

const DRAFTS = {
  AIDIP: 'AI Agent Discovery and Invocation Protocol, revision 01',
  AIDIP00: 'AI Agent Discovery and Invocation Protocol, revision 00',
  AURI: 'agent:// URIs, revision 01',
  PROF: 'Efficient agent discovery profile, revision 00',
  AD: 'Agent Directory, revision 01',
}

/** Tests of the count itself, which name requirements as examples. */
const OWN_TESTS = /^scripts\//

/** Requirement → test files that name it, in the order of their paths. */
export function readTestsOfRequirements() {
  const tests = new Map()
  for (const path of sourceFiles().map((each) => relative(ROOT, each))) {
    if (!/\.test\.(ts|mjs)$/.test(path) || (OWN_TESTS.test(path) && !path.endsWith('privacy.test.mjs'))) continue
    const named = readFileSync(join(ROOT, path), 'utf8').match(ID_IN_TEXT) ?? []
    for (const id of new Set(named)) tests.set(id, [...(tests.get(id) ?? []), path])
  }
  return tests
}

/** The page. */
export function toConformance() {
  const requirements = readRequirementRows()
  const untestable = readUntestable()
  const tests = readTestsOfRequirements()
  const draftOf = (id) => id.slice(0, id.indexOf('-'))
  const linksOf = (id) => (tests.get(id) ?? []).map((path) => `[${basename(path)}](../${path})`).join(', ')
  const counts = Object.entries(DRAFTS).map(([draft, title]) => {
    const own = requirements.filter(({ id }) => draftOf(id) === draft)
    const tested = own.filter(({ id }) => tests.has(id)).length
    const link = `[${title}](#${draft.toLowerCase()})`
    return `| ${link} | ${own.length} | ${own.filter(({ level }) => level === 'MUST').length} | ${tested} |`
  })
  const sections = Object.entries(DRAFTS).flatMap(([draft, title]) => {
    const own = requirements.filter(({ id }) => draftOf(id) === draft)
    const rows = own.map(
      ({ id, level, text }) => `| ${id} | ${level} | ${text} | ${linksOf(id) || (untestable.get(id) ?? '')} |`,
    )
    return [`\n## ${draft}`, `${title}: ${new Set(own.map(({ id }) => sectionOf(id))).size} sections.\n`, HEAD, ...rows]
  })
  return [
    INTRODUCTION,
    '| draft | requirements | MUST | with a test |',
    '|---|---|---|---|',
    ...counts,
    ...sections,
    '',
  ].join('\n')
}

const HEAD = '| id | level | requirement | tests |\n|---|---|---|---|'

const INTRODUCTION = `# Conformance

Every requirement of the five drafts, and the tests that prove it. A test names its requirements at the start of its title;
\`npm run coverage:spec\` counts those with a passing test, in CI for every change. *described* means that the draft states something
without one of the words MUST, SHOULD and MAY. This page is generated: \`npm run coverage:spec -- --write\`.
`
