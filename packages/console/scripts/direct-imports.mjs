// esbuild divides code among chunks by file. An index file that re-exports a whole package connects everything that any page
// uses with the first load. This plugin lets imports lead to the file that defines what they name.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGES = /^@(?:mantine\/(?:core|hooks)|switchboard\/(?:client|protocol))(?:\/[\w-]+)?$/
const NAMED_IMPORT = /^import\s*\{([^}]*)\}\s*from\s*["']([^"']+)["']/gm
const LOADERS = { '.ts': 'ts', '.tsx': 'tsx', '.js': 'js', '.mjs': 'js' }

export const directImports = {
  name: 'direct-imports',
  setup({ onLoad }) {
    onLoad({ filter: /\.(?:tsx?|m?js)$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const contents = direct(text)
      // Files without such imports are left to esbuild, which replaces those that are not for browsers.
      return contents === text ? undefined : { contents, loader: LOADERS[extname(path)] }
    })
  },
}

function direct(text) {
  return text.replaceAll(NAMED_IMPORT, (whole, names, specifier) => {
    if (!PACKAGES.test(specifier)) return whole
    const exported = exportsOf(fileURLToPath(import.meta.resolve(specifier)))
    return readNames(names)
      .map(({ name, alias }) => {
        const found = exported.get(name)
        if (!found) throw new Error(`${specifier} does not export ${name}`)
        return `import { ${found.name} as ${alias} } from ${JSON.stringify(found.file)}`
      })
      .join(';')
  })
}

/** Names and aliases between braces, without types. */
function readNames(names) {
  return names
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !part.startsWith('type '))
    .map((part) => {
      const [name, alias = name] = part.split(/\s+as\s+/)
      return { name, alias }
    })
}

const cache = new Map()

/** The file, and the name there, of everything that a file exports. */
function exportsOf(file) {
  const cached = cache.get(file)
  if (cached) return cached
  const found = new Map()
  cache.set(file, found)
  const text = readFileSync(file, 'utf8')
  const at = (specifier) => join(dirname(file), specifier)
  const imported = new Map()
  for (const [, names, from] of text.matchAll(NAMED_IMPORT)) {
    if (!from.startsWith('.')) continue
    for (const { name, alias } of readNames(names)) imported.set(alias, { name, from: at(from) })
  }
  for (const [, from] of text.matchAll(/\bexport\s*\*\s*from\s*["'](\.[^"']+)["']/g)) {
    for (const [name, target] of exportsOf(at(from))) if (!found.has(name)) found.set(name, target)
  }
  for (const [, name] of text.matchAll(/\bexport\s+(?:async\s+)?(?:const|let|class|function\*?)\s+([\w$]+)/g)) {
    found.set(name, { file, name })
  }
  for (const [, names, from] of text.matchAll(/\bexport\s*\{([^}]*)\}(?:\s*from\s*["'](\.[^"']+)["'])?/g)) {
    for (const { name, alias } of readNames(names)) {
      const source = from ? { name, from: at(from) } : imported.get(name)
      const target = source && exportsOf(source.from).get(source.name)
      found.set(alias, target ?? { file, name: alias })
    }
  }
  return found
}
