import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './tree.mjs'

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
const installed = Object.entries(packages).filter(([path, entry]) => /(^|\/)node_modules\//.test(path) && !entry.link)

/** Whether the entry that `path` would load for `name` is in the lock, looked up as Node does: the nearest folder first. */
function isLocked(path, name) {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    if (packages[`${folder && `${folder}/`}node_modules/${name}`]) return true
    if (folder === '') return false
  }
}

it('locks every optional package, so that `npm ci` works on every platform', () => {
  const missing = installed.flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(path, name)),
  )
  expect(missing).toEqual([])
})

it('verifies every package and names no registry', () => {
  expect(installed.length).toBeGreaterThan(200)
  expect(installed.filter(([, entry]) => !entry.integrity).map(([path]) => path)).toEqual([])
  expect(Object.entries(packages).filter(([, { resolved = '' }]) => resolved.includes(':'))).toEqual([])
})
