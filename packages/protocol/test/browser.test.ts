// The package runs in browsers: the compiler has no Node types for it (tsconfig.json), the linter forbids node: imports;
// this looks at what neither sees: other packages, and globals behind a guard.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))

const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
)

describe('the sources', () => {
  it.each(sources)('%s needs nothing of Node', (path) => {
    const code = readFileSync(join(SOURCES, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    const imports = [...code.matchAll(/from '([^']+)'/g)].map(([, name]) => name ?? '')
    const packages = /^(\.{1,2}\/|(eventsource-parser|jose|negotiator|re2js|semver|structured-headers)$)/
    expect(imports.filter((name) => !packages.test(name))).toEqual([])
    expect(code).not.toMatch(/\b(Buffer|process|require|__dirname|setImmediate)\b/)
  })
})
