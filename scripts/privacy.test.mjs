import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './tree.mjs'

const page = readFileSync(join(ROOT, 'docs/privacy.md'), 'utf8')

it('PROF-15-03 docs/privacy.md follows the headings of RFC 6973, section 7, each with content', () => {
  const sections = page.split(/^## /m).slice(1)
  expect(sections.map((section) => section.split('\n')[0])).toEqual([
    'Data Minimization',
    'User Participation',
    'Security',
    'General',
  ])
  for (const section of sections) expect(section.length).toBeGreaterThan(200)
})

it('docs/privacy.md names every kind of data in an export', () => {
  const types = readFileSync(join(ROOT, 'packages/server/src/store/subject-store.ts'), 'utf8')
  const [, kinds = ''] = /export type SubjectKind =([\s\S]*?)\n\n/.exec(types) ?? []
  const names = Array.from(kinds.matchAll(/'(\w+)'/g), ([, name]) => name)
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})
