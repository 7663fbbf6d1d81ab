import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './process.js'

/**
 * The version that upgrades start from, by its commit: the last one with an older schema of the database that still
 * supports `shutdown.delayMs`. After a release, set it to the commit of that release.
 */
const COMMIT = '125264b06b9e9406e34487bcb0385aa569780265'

/** Reason for skipped tests; part of their titles. */
export const NO_HISTORY = 'skipped: the previous version is not in the history of this clone'

export const hasPreviousVersion = (): boolean => {
  try {
    execFileSync('git', ['cat-file', '-e', `${COMMIT}^{commit}`], { cwd: ROOT, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Builds the previous version in an empty folder, with the dependencies of this one, and returns its command. */
export function buildPreviousVersion(folder: string): string {
  const sources = execFileSync('git', ['archive', COMMIT, 'packages', 'tsconfig.base.json', 'package.json'], {
    cwd: ROOT,
    maxBuffer: 2 ** 30,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: sources })

  const [modules, own] = [join(folder, 'node_modules'), join(folder, 'node_modules/@switchboard')]
  mkdirSync(own, { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@switchboard') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  for (const name of readdirSync(join(folder, 'packages'))) {
    const home = join(folder, 'packages', name)
    const { name: packageName } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
    symlinkSync(home, join(modules, packageName))
  }
  symlinkSync(join(ROOT, 'packages/cli/node_modules'), join(folder, 'packages/cli/node_modules'))
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-b', 'packages/cli'], {
    cwd: folder,
    stdio: 'pipe',
  })
  return join(folder, 'packages/cli/dist/main.js')
}
