// The package runs in browsers: the compiler has no Node types for it (tsconfig.json), the linter forbids node: imports.
// These tests check what neither sees: other packages, and globals behind a guard.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))

const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
)

describe('the sources', () => {
  it.each(sources)('%s does not need Node', (path) => {
    const code = readFileSync(join(SOURCES, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    const imports = [...code.matchAll(/from '([^']+)'/g)].map(([, name]) => name ?? '')
    const packages = /^(\.{1,2}\/|(eventsource-parser|jose|negotiator|re2js|semver|structured-headers)$)/
    expect(imports.filter((name) => !packages.test(name))).toEqual([])
    expect(code).not.toMatch(/\b(Buffer|process|require|__dirname|setImmediate)\b/)
    // A page without `unsafe-eval` in its policy cannot run these.
    expect(code).not.toMatch(/\beval\(|\bFunction\(/)
  })
})

/** The packages that a module imports, directly or through other modules; type imports do not count. */
function packagesOf(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path)) return []
  seen.add(path)
  const code = readFileSync(join(SOURCES, path), 'utf8')
  const imports = [...code.matchAll(/^(?:import|export) (?!type\b)[^']*?from '([^']+)'/gm)].map(
    ([, name]) => name ?? '',
  )
  const packages = imports.flatMap((name) =>
    name.startsWith('.')
      ? packagesOf(relative(SOURCES, join(SOURCES, dirname(path), name.replace(/\.js$/, '.ts'))), seen)
      : [name],
  )
  return [...new Set(packages)].sort()
}

describe('the subpaths', () => {
  it.each(['addresses', 'errors', 'identifiers', 'json', 'timestamps'])('%s needs no library', (name) => {
    expect(packagesOf(`${name}.ts`)).toEqual([])
  })

  it.each(['detect-format', 'read', 'redact', 'validate-members'])('documents/%s needs no library', (name) => {
    expect(packagesOf(`documents/${name}.ts`)).toEqual([])
  })

  it('schema needs the regular expression engine, and documents needs semantic versions too', () => {
    expect(packagesOf('schema/index.ts')).toEqual(['re2js'])
    expect(packagesOf('documents/index.ts')).toEqual(['re2js', 'semver'])
    expect(packagesOf('versions.ts')).toEqual(['semver'])
  })
})
