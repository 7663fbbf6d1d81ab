// Checks the packages as their users get them: packs all of them, lints the tarballs (publint, arethetypeswrong, files and
// manifest), installs them together into an empty folder, then runs the command, imports and type-checks every package.
// Needs a build, and a registry for the packages' own dependencies.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { run, runNpm } from './run.mjs'
import { below, isFile, publishedFolders, ROOT } from './tree.mjs'

const MANIFEST_MEMBERS = ['description', 'engines', 'exports', 'keywords', 'license', 'repository', 'type', 'version']
const REQUIRED_FILES = ['LICENSE', 'NOTICE', 'README.md', 'package.json']
/** Files that only the repository needs. */
const UNWANTED = /\.test\.|\.tsbuildinfo$|(^|\/)test(-data)?\//

const work = mkdtempSync(join(tmpdir(), 'switchboard-packages-'))
const app = join(work, 'app')
let failed = 0

/** Runs one check, which returns problems or throws. */
async function check(what, find) {
  const problems = await Promise.resolve()
    .then(find)
    .catch((error) => error.message.trim().split('\n'))
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'}  ${what}`)
  for (const problem of problems) console.log(`          ${problem}`)
  if (problems.length > 0) failed++
}

/** The output of a program; throws it if the program failed. */
async function outputOf(running) {
  const { code, output } = await running
  if (code !== 0) throw new Error(`${output}exit code ${code}`)
  return output
}

/** Returns no problems if the program succeeds, and throws otherwise. */
async function succeeds(running) {
  await outputOf(running)
  return []
}

const node = (args, cwd) => run(process.execPath, args, { quiet: true, cwd })
const tool = (path, ...args) => node([join(ROOT, 'node_modules', path), ...args])
const readManifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

async function pack() {
  await outputOf(runNpm(['pack', ...publishedFolders(), '--pack-destination', work], { quiet: true }))
  const packages = []
  for (const file of readdirSync(work).filter((name) => name.endsWith('.tgz'))) {
    const folder = join(work, 'unpacked', file)
    mkdirSync(folder, { recursive: true })
    const tarball = join(work, file)
    await outputOf(run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'], { quiet: true }))
    const { name, exports } = readManifest(folder)
    packages.push({ name, tarball, folder, entries: Object.keys(exports).map((path) => name + path.slice(1)) })
  }
  return packages
}

function contentProblems(folder) {
  const manifest = readManifest(folder)
  const files = [...below(folder)].filter((entry) => !entry.folder).map(({ path }) => relative(folder, path))
  return [
    ...REQUIRED_FILES.filter((name) => !files.includes(name)).map((name) => `${name} is missing`),
    ...MANIFEST_MEMBERS.filter((name) => Object.keys(manifest[name] ?? {}).length === 0).map(
      (name) => `package.json has no ${name}`,
    ),
    ...files.filter((name) => UNWANTED.test(name)).map((name) => `${name} should not be published`),
    ...files.filter((name) => name.endsWith('.map')).flatMap((name) => missingSources(folder, name)),
  ]
}

/** A source map is broken if its source is not published, or if the file is left over from an earlier build. */
function missingSources(folder, name) {
  const { sources, sourceRoot = '' } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
  return sources
    .filter((source) => !isFile(join(folder, dirname(name), sourceRoot, source)))
    .map((source) => `${name} refers to ${source}, which is missing: remove packages/*/dist and build again`)
}

/** Installs everything into one folder, as in an application that uses all of it. */
async function install(packages) {
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  const types = `@types/node@${readManifest(ROOT).devDependencies['@types/node']}`
  const wanted = [...packages.map(({ tarball }) => tarball), types]
  const flags = ['--no-audit', '--no-fund', '--prefer-offline']
  await outputOf(runNpm(['install', ...flags, ...wanted], { quiet: true, cwd: app }))
}

/** Any user but root; without the right to become one, the check runs as the current user. */
const ANY_USER = process.getuid?.() === 0 ? 12_345 : undefined

/** Runs what deploy/docker/Dockerfile puts into the image, from a folder in which it must not write. */
async function startImage() {
  const [image, start] = [join(work, 'image'), join(work, 'start.mjs')]
  await outputOf(run('sh', [join(ROOT, 'deploy/docker/install-packed.sh'), work, image], { quiet: true }))
  copyFileSync(join(ROOT, '.ci/start.mjs'), start)
  chmodSync(work, 0o755)
  await outputOf(run('chmod', ['-R', 'a-w', image], { quiet: true }))
  const main = join(image, 'node_modules/@switchboard/cli/dist/main.js')
  try {
    return await succeeds(run(process.execPath, [start, main], { quiet: true, cwd: image, uid: ANY_USER }))
  } finally {
    await outputOf(run('chmod', ['-R', 'u+w', image], { quiet: true }))
  }
}

function compile(entries) {
  const lines = entries.map((entry, at) => `import * as p${at} from '${entry}'\nvoid p${at}`)
  writeFileSync(join(app, 'app.ts'), lines.join('\n'))
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    types: ['node'],
    strict: true,
    skipLibCheck: false, // the declarations must not need anything that is not installed with the package
    noEmit: true,
  }
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }))
  return tool('typescript/bin/tsc', '-p', app)
}

try {
  const packages = await pack()
  const names = packages.map(({ name }) => name)
  await check('every package is packed', () => (names.length === publishedFolders().length ? [] : [names.join(', ')]))
  for (const { name, tarball, folder } of packages) {
    await check(`${name}: files and manifest`, () => contentProblems(folder))
    await check(`${name}: publint`, () => succeeds(tool('publint/src/cli.js', 'run', tarball, '--strict')))
    await check(`${name}: arethetypeswrong`, () => {
      const options = ['--profile', 'esm-only', '--no-definitely-typed', '--no-emoji', '--no-color']
      return succeeds(tool('@arethetypeswrong/cli/dist/index.js', tarball, ...options))
    })
  }

  await install(packages)
  await check('installed together, each package once', () =>
    names.filter((name) => existsSync(join(app, 'node_modules', name, 'node_modules/@switchboard'))),
  )
  const command = join(app, 'node_modules/.bin/switchboard')
  await check('switchboard --help', async () => {
    const help = await outputOf(run(command, ['--help'], { quiet: true, cwd: app }))
    return help.includes('switchboard serve') ? [] : ['the help does not list the commands']
  })
  await check('switchboard serve starts, is healthy and stops', () =>
    succeeds(node([join(ROOT, '.ci/start.mjs'), command], app)),
  )
  await check('installed as in the image, it runs as any user and writes nothing but its data', startImage)
  const entries = packages.flatMap((each) => each.entries)
  await check(`${entries.length} entry points can be imported`, () => {
    const program = `for (const entry of ${JSON.stringify(entries)}) {
      if (Object.keys(await import(entry)).length === 0) throw new Error(entry + ' exports nothing')
    }`
    return succeeds(node(['--input-type=module', '--eval', program], app))
  })
  await check('a TypeScript program that imports them compiles', () => succeeds(compile(entries)))
} finally {
  rmSync(work, { recursive: true, force: true })
}
console.log(failed === 0 ? '\nAll checks passed.' : `\nFailed checks: ${failed}`)
process.exitCode = failed === 0 ? 0 : 1
