/**
 * Compiles the inner loops of the vector index to WebAssembly and embeds them in a TypeScript file as base64, so that
 * nothing is compiled at install time and no file is loaded at run time. The file contains a hash of its source, which a
 * test checks, so that the compiler (94 MB) need not be a dependency.
 *
 *   npm install --no-save assemblyscript@0.28.20 && node packages/search/scripts/build-wasm.mjs
 */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const SOURCE = new URL('./build-wasm/scan.ts', import.meta.url)
const TARGET = new URL('../src/vectors/scan-wasm.ts', import.meta.url)

async function compile() {
  const outputs = new Map()
  const { error, stderr } = await asc.main(
    [
      ...['scan.ts', '--outFile', 'scan.wasm'],
      ...['--runtime', 'stub', '--noAssert', '--importMemory', '--enable', 'simd', '--optimizeLevel', '3'],
    ],
    {
      readFile: (name) => (name === 'scan.ts' ? readFile(SOURCE, 'utf8') : null),
      writeFile: (name, contents) => void outputs.set(name, contents),
      listFiles: () => [],
    },
  )
  if (error) throw new Error(`${fileURLToPath(SOURCE)} does not compile\n${stderr}`, { cause: error })
  return outputs.get('scan.wasm')
}

const source = await readFile(SOURCE)
const wasm = await compile()
await writeFile(
  TARGET,
  `// Generated from scripts/build-wasm/scan.ts by scripts/build-wasm.mjs; do not edit.

/** SHA-256 of the compiled source. */
export const SCAN_SOURCE = '${createHash('sha256').update(source).digest('hex')}'

/** The compiled inner loops of the vector index (${wasm.length} bytes of WebAssembly), in base64. */
export const SCAN_WASM =
  '${Buffer.from(wasm).toString('base64')}'
`,
)
