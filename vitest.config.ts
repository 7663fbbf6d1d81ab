import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'

const SLOW = 'packages/*/{src,test}/**/*.slow.test.ts'

/** Maps what a package exports to the source that it is built from, so that tests never run an old build. */
const sources = readdirSync('packages').flatMap((folder) => {
  const { name, exports } = JSON.parse(readFileSync(join('packages', folder, 'package.json'), 'utf8'))
  return Object.entries<{ default: string }>(exports).map(([path, target]) => ({
    find: new RegExp(`^${join(name, path)}$`),
    replacement: join(import.meta.dirname, 'packages', folder, target.default)
      .replace('/dist/', '/src/')
      .replace(/\.js$/, '.ts'),
  }))
})

export default defineConfig({
  resolve: { alias: sources },
  test: {
    globalSetup: ['scripts/vitest-build.mjs'],
    setupFiles: ['scripts/vitest-setup.mjs'],
    // Processes rather than threads: native modules (the embedded store) and signals behave as in production.
    pool: 'forks',
    // Tests start servers and databases of their own; more workers than cores only make them time out.
    maxWorkers: 2,
    // Files share a process, so that each module is loaded once per worker. Tests keep no state in modules.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000, // a hook may have to start a PostgreSQL cluster
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
      { extends: true, test: { name: 'slow', include: [SLOW], isolate: true } },
    ],
  },
})
