import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'

const SLOW = 'packages/*/{src,test}/**/*.slow.test.ts'

/** Maps what a package exports to the source that it is built from, so that tests never run an old build. */
const sources = readdirSync('packages').flatMap((folder) => {
  const home = join(import.meta.dirname, 'packages', folder)
  if (!existsSync(join(home, 'package.json'))) return []
  const { name, exports } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  return Object.entries<{ default?: string }>(exports).flatMap(([path, { default: target }]) => {
    const source = target && join(home, target.replace('/dist/', '/src/').replace(/\.js$/, '.ts'))
    return source ? [{ find: new RegExp(`^${join(name, path)}$`), replacement: source }] : []
  })
})

export default defineConfig({
  resolve: { alias: sources },
  test: {
    globalSetup: ['scripts/vitest-build.mjs'],
    setupFiles: ['scripts/vitest-setup.mjs'],
    // Processes rather than threads: native modules (the embedded store) and signals behave as in production.
    pool: 'forks',
    // A third of the time of a worker goes to waiting for processes, sockets and timers.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Files share a process, so that each module is loaded once per worker. Tests keep no state in modules.
    isolate: false,
    // For tests that hang. A test that needs its result within a certain time says so itself.
    testTimeout: 60_000,
    hookTimeout: 120_000, // a hook may have to start a PostgreSQL cluster
    expect: { poll: { timeout: 10_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: [
            'packages/*/{src,test}/**/*.test.ts',
            'examples/**/*.test.ts',
            'scripts/**/*.test.mjs',
            '.ci/**/*.test.mjs',
          ],
          exclude: [...configDefaults.exclude, '**/dist/**', SLOW],
        },
      },
      {
        extends: true,
        test: { name: 'slow', include: [SLOW], isolate: true, testTimeout: 300_000, hookTimeout: 300_000 },
      },
    ],
  },
})
