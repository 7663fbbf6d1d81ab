/**
 * Compiles the inner loops of the vector index to WebAssembly and writes them, as text, into a TypeScript file: so
 * neither installing nor running the package needs the compiler, and no file has to be found at run time.
 *
 *   node packages/search/scripts/build-wasm.mjs          writes src/vectors/scan-wasm.ts
 *   node packages/search/scripts/build-wasm.mjs --check  fails if that file is not what the compiler makes of the source
 */
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

const generated = (
  wasm,
) => `// Generated. Made from scripts/build-wasm/scan.ts by: node packages/search/scripts/build-wasm.mjs

/** The compiled inner loops of the vector index (${wasm.length} bytes of WebAssembly), in base64. */
export const SCAN_WASM =
  '${Buffer.from(wasm).toString('base64')}'
`

const text = generated(await compile())
if (!process.argv.includes('--check')) {
  await writeFile(TARGET, text)
} else if ((await readFile(TARGET, 'utf8')) !== text) {
  console.error('scan-wasm.ts is out of date: run node packages/search/scripts/build-wasm.mjs')
  process.exitCode = 1
}
