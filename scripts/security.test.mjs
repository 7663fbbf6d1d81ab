import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './tree.mjs'

const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
const threats = page.split(/^### (?=T\d+ )/m).slice(1)

/** The tests that a part of the page names. */
const testsIn = (text) =>
  Array.from(text.matchAll(/^- `(packages\/[^`]+)`: (.+)$/gm), ([, path, title]) => ({ path, title }))

const titlesOf = (path) => (existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : '')

it('SECURITY.md names tests that exist', () => {
  const missing = testsIn(page).filter(({ path, title }) => !titlesOf(path).includes(title))
  expect(missing).toEqual([])
})

it('SECURITY.md proves the mitigation of every threat with a test', () => {
  expect(threats.length).toBeGreaterThan(20)
  expect(threats.filter((threat) => testsIn(threat).length === 0)).toEqual([])
})
