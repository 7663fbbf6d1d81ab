// The package runs in browsers: code that needs Node is in *.node.ts and loaded on demand. The linter keeps Node's
// modules out of the rest; these tests check what it does not see: static imports of *.node.ts, and Node's globals.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))

const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !/\.(test|node)\.ts$/.test(path),
)

describe('the sources', () => {
  it.each(sources)('%s does not need Node to load', (path) => {
    const code = readFileSync(join(SOURCES, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    const imports = [...code.matchAll(/^(?:import|export) (?!type )[^'"]*?from '([^']+)'/gm)].map(
      ([, name]) => name ?? '',
    )
    const packages = /^(\.{1,2}\/|@switchboard\/(agent-uri|protocol(\/[\w-]+)?)$|jose$)/
    expect(imports.filter((name) => !packages.test(name) || name.endsWith('.node.js'))).toEqual([])
    expect(code).not.toMatch(/\b(Buffer|require\(|__dirname|setImmediate)\b/)
    expect(code).not.toMatch(/(?<!globalThis\.)\bprocess\./)
  })
})
