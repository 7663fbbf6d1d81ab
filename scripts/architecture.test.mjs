import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './tree.mjs'

it('docs/architecture.md names files and folders that exist', () => {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')
  const paths = Array.from(page.matchAll(/`(packages\/[^`]+)`/g), ([, path]) => path)
  expect(paths.length).toBeGreaterThan(30)
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
