import { configDefaults, defineConfig } from 'vitest/config'

const SLOW = 'packages/*/{src,test}/**/*.slow.test.ts'

export default defineConfig({
  test: {
    // Processes rather than threads: native modules (the embedded store) and signals behave as in production.
    pool: 'forks',
    // Tests start servers and databases of their own; more workers than cores only make them time out.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000, // a hook may have to start a PostgreSQL cluster
    setupFiles: ['scripts/vitest-setup.mjs'],
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
      { extends: true, test: { name: 'slow', include: [SLOW] } },
    ],
  },
})
