// Prints the bundle sizes of programs that use our packages, and fails if one exceeds its budget. Needs a build.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { ROOT } from './tree.mjs'

/** Kilobytes (1,000 bytes) of minified and gzipped JavaScript. Lower a budget when its bundle gets smaller. */
const BUNDLES = [
  {
    name: 'agent-uri: parse a URI',
    budget: 2.6,
    code: `import { parseAgentUri } from '@switchboard/agent-uri'; console.log(parseAgentUri(location.hash))`,
  },
  { name: 'agent-uri: everything', budget: 3.2, code: `export * from '@switchboard/agent-uri'` },
  {
    name: 'client: a search box',
    budget: 10.5, // must never be more than 15
    code: `import { createDiscoveryClient } from '@switchboard/client/discovery'
      const directory = createDiscoveryClient({ baseUrl: location.origin })
      for await (const agent of directory.search('translate')) document.body.append(agent.name)`,
  },
  {
    name: 'client: createClient',
    budget: 20.2,
    code: `import { createClient } from '@switchboard/client'
      const directory = createClient({ baseUrl: location.origin })
      for await (const { data } of directory.stream('translator', { text: 'hello' })) document.body.append(data)`,
  },
  {
    name: 'client: resolve a URI',
    budget: 96,
    code: `import { resolveAgent } from '@switchboard/client/resolve'
      console.log(await resolveAgent(location.hash))`,
  },
  { name: 'client: everything', budget: 121, code: `export * from '@switchboard/client'` },
]

/** Kilobytes of scripts and styles, gzipped, that the console's search needs before it shows anything. */
const CONSOLE_BUDGET = 190 // must never be more than 200
const CONSOLE = join(ROOT, 'packages/server/dist/console')

/** The files that the console's page names, as the server sends them to browsers that know gzip only. */
function measureConsole() {
  const page = readFileSync(join(CONSOLE, 'index.html'), 'utf8')
  const files = [...new Set(Array.from(page.matchAll(/console\/(assets\/[^"]+\.(?:js|css))/g), ([, file]) => file))]
  const sizeOf = (suffix) => files.reduce((sum, file) => sum + readFileSync(join(CONSOLE, file + suffix)).length, 0)
  const parts = files.map((file) => [file.replace('assets/', ''), readFileSync(join(CONSOLE, file)).length])
  return { minified: sizeOf(''), gzipped: sizeOf('.gz'), parts: parts.sort(([, a], [, b]) => b - a) }
}

/** The bundle's size in bytes, and what each package in it weighs before compression. */
async function measure(code) {
  const result = await build({
    stdin: { contents: code, resolveDir: ROOT },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'error',
  })
  const [{ contents }] = result.outputFiles
  const [{ inputs }] = Object.values(result.metafile.outputs)
  return { minified: contents.length, gzipped: gzipSync(contents, { level: 9 }).length, parts: partsOf(inputs) }
}

function partsOf(inputs) {
  const bytes = new Map()
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const [, name = 'itself'] = /(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path) ?? []
    bytes.set(name, (bytes.get(name) ?? 0) + bytesInOutput)
  }
  return [...bytes].sort(([, a], [, b]) => b - a)
}

const kb = (bytes) => (bytes / 1000).toFixed(1)
const rows = []
for (const { name, code, budget } of BUNDLES) rows.push({ name, budget, ...(await measure(code)) })
rows.push({ name: 'console: first load', budget: CONSOLE_BUDGET, ...measureConsole() })

console.log('bundle                    gzipped   budget  minified   largest parts, minified (kB)')
for (const { name, budget, minified, gzipped, parts } of rows) {
  const largest = parts.slice(0, 5).map(([part, bytes]) => `${part} ${kb(bytes)}`)
  const numbers = [kb(gzipped).padStart(7), String(budget).padStart(7), kb(minified).padStart(8)].join('  ')
  console.log(`${name.padEnd(24)}  ${numbers}   ${largest.join(', ')}`)
}
const over = rows.filter(({ gzipped, budget }) => gzipped > budget * 1000)
for (const { name, gzipped, budget } of over)
  console.error(`${name}: ${kb(gzipped)} kB is over its budget of ${budget} kB`)
process.exitCode = over.length === 0 ? 0 : 1
