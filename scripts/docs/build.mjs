// Builds the documentation site into the server package, if its sources have changed since.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { below, isFile, ROOT } from '../tree.mjs'

/** Where the server looks for the site. */
const TARGET = join(ROOT, 'packages/server/dist/docs')
/** A file with the digest of the sources. The server uses it as the entity tag of all pages. */
const VERSION = 'version'

/** Problems that are printed. */
const MAX_PROBLEMS = 10

/** Everything that the site is built from; the lock file names the versions of the libraries. */
function digestOfSources() {
  const inFolders = [join(ROOT, 'docs'), join(ROOT, 'packages/server/src/config'), import.meta.dirname].flatMap(
    (folder) => [...below(folder)],
  )
  const single = ['SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'package-lock.json'].map((name) => join(ROOT, name))
  const paths = [...inFolders.filter(({ folder }) => !folder).map(({ path }) => path), ...single]
  const hash = createHash('sha256')
  for (const path of paths.sort())
    hash
      .update(`${path.slice(ROOT.length)}\0`)
      .update(readFileSync(path))
      .update('\0')
  return hash.digest('hex').slice(0, 32)
}

const version = digestOfSources()
if (!isFile(join(TARGET, VERSION)) || readFileSync(join(TARGET, VERSION), 'utf8') !== version) {
  const [{ buildSite }, { writeFiles }] = await Promise.all([import('./build-site.mjs'), import('./write-files.mjs')])
  const { files, problems } = await buildSite()
  await writeFiles(TARGET, files.set(VERSION, version))
  // A dead link should not keep anybody from starting a directory: the test of the site fails instead. An image is built
  // without examples and tests, to which pages link.
  for (const problem of problems.slice(0, MAX_PROBLEMS)) console.error(`documentation: ${problem}`)
  if (problems.length > MAX_PROBLEMS) console.error(`documentation: ${problems.length - MAX_PROBLEMS} problems more`)
}
