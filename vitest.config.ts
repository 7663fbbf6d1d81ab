import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/*/test/**/*.test.ts',
      'examples/**/*.test.ts',
      'scripts/**/*.test.mjs',
    ],
    exclude: ['**/node_modules/**', '**/dist/**'],
    // Processes rather than threads: native modules (the embedded store) and signals behave as in production.
    pool: 'forks',
    // Tests start servers and databases of their own; more workers than cores only make them time out.
    maxWorkers: 2,
    testTimeout: 20_000,
    setupFiles: ['scripts/vitest-setup.mjs'],
    hookTimeout: 60_000, // a hook may have to start a PostgreSQL cluster
  },
})
