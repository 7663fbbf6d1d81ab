// Checks the packages as their users get them: packs all of them, lints the tarballs (publint, arethetypeswrong, files and
// manifest), installs them together into an empty folder, then runs the command, imports and type-checks every package.
// Needs a build, and a registry for the packages' own dependencies.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { below, isFile, packageFolders, ROOT } from './tree.mjs'

const MANIFEST_MEMBERS = ['description', 'engines', 'exports', 'keywords', 'license', 'repository', 'type', 'version']
const REQUIRED_FILES = ['LICENSE', 'NOTICE', 'README.md', 'package.json']
/** Files that only the repository needs. */
const UNWANTED = /\.test\.|\.tsbuildinfo$|(^|\/)test(-data)?\//

const work = mkdtempSync(join(tmpdir(), 'switchboard-packages-'))
const failures = []
const check = (what, problems) => {
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'}  ${what}`)
  for (const problem of problems) console.log(`          ${problem}`)
  failures.push(...problems)
}

/** Runs a program; throws with its output if it fails. */
function run(command, args, cwd = ROOT) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 })
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(' ')}\n${error?.message ?? ''}${stdout}${stderr}`.trim())
}

const npmCli = process.env.npm_execpath ?? ''
const npm = (args, cwd) =>
  npmCli.endsWith('npm-cli.js') ? run(process.execPath, [npmCli, ...args], cwd) : run('npm', args, cwd)
const tool = (path, args, cwd) => run(process.execPath, [join(ROOT, 'node_modules', path), ...args], cwd)

/** The problems that a check which throws has found. */
function problemsOf(work) {
  try {
    work()
    return []
  } catch (error) {
    return error.message.split('\n')
  }
}

function pack() {
  const packed = JSON.parse(npm(['pack', '--workspaces', '--json', '--silent', '--pack-destination', work]))
  // npm 12 gives an object with a member for each workspace, older ones a list.
  return Object.values(packed).map(({ name, filename }) => {
    const folder = join(work, 'unpacked', name)
    mkdirSync(folder, { recursive: true })
    run('tar', ['-xzf', join(work, filename), '-C', folder, '--strip-components=1'])
    return { name, tarball: join(work, filename), folder }
  })
}

function contentProblems({ folder }) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
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

/** A map leads nowhere if its source is not published, or if the file is left over from an earlier build. */
function missingSources(folder, name) {
  const { sources, sourceRoot = '' } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
  return sources
    .filter((source) => !isFile(join(folder, dirname(name), sourceRoot, source)))
    .map((source) => `${name} refers to ${source}, which is missing: remove packages/*/dist and build again`)
}

/** Everything in one folder, as in an application that uses all of it. */
function install(packages) {
  const folder = join(work, 'app')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const types = `@types/node@${devDependencies['@types/node']}`
  npm(
    ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages.map(({ tarball }) => tarball), types],
    folder,
  )
  return folder
}

function compile(app, names) {
  const lines = names.map((name, at) => `import * as p${at} from '${name}'\nvoid p${at}`)
  writeFileSync(join(app, 'app.ts'), lines.join('\n'))
  const options = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    types: ['node'],
  }
  // skipLibCheck is off: the declarations must not need anything that is not installed with the package.
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['app.ts'] }))
  tool('typescript/bin/tsc', ['-p', app])
}

try {
  const packages = pack()
  const names = packages.map(({ name }) => name)
  check(`${packages.length} packages packed`, packages.length === packageFolders().length ? [] : [names.join(', ')])
  for (const each of packages) {
    check(`${each.name}: files and manifest`, contentProblems(each))
    check(
      `${each.name}: publint`,
      problemsOf(() => tool('publint/src/cli.js', ['run', each.tarball, '--strict'])),
    )
    check(
      `${each.name}: arethetypeswrong`,
      problemsOf(() => {
        const options = ['--profile', 'esm-only', '--no-emoji', '--no-color', '--no-definitely-typed']
        tool('@arethetypeswrong/cli/dist/index.js', [each.tarball, ...options])
      }),
    )
  }
  const app = install(packages)
  const command = join(app, 'node_modules/.bin/switchboard')
  const nested = names.filter((name) => existsSync(join(app, 'node_modules', name, 'node_modules/@switchboard')))
  check('installed together, each package once', nested)
  check(
    'switchboard --help',
    problemsOf(() => {
      if (!run(command, ['--help'], app).includes('switchboard serve')) throw new Error('it does not name its commands')
    }),
  )
  check(
    'switchboard serve starts, is healthy and stops',
    problemsOf(() => run(process.execPath, [join(ROOT, '.ci/start.mjs'), command], app)),
  )
  for (const name of names) {
    const program = `import * as all from '${name}'; if (Object.keys(all).length === 0) throw new Error('no exports')`
    check(
      `import ${name}`,
      problemsOf(() => run(process.execPath, ['--input-type=module', '--eval', program], app)),
    )
  }
  check(
    'a TypeScript program that imports all of them compiles',
    problemsOf(() => compile(app, names)),
  )
} finally {
  rmSync(work, { recursive: true, force: true })
}
console.log(failures.length === 0 ? '\nthe packages are fine' : `\n${failures.length} problems`)
process.exitCode = failures.length === 0 ? 0 : 1
