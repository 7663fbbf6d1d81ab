import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'

/** A hook of Node's module loader: TypeScript becomes JavaScript. */
export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  const file = fileURLToPath(url)
  const { code } = await transform(await readFile(file, 'utf8'), {
    loader: 'ts',
    sourcefile: file,
    sourcemap: 'inline',
    target: 'node20',
  })
  return { format: 'module', source: code, shortCircuit: true }
}
