// Bundles the console into packages/server/dist/console: hashed names, so that browsers may keep the files for ever, and
// each file beside its copies compressed with Brotli and gzip. Files that have not changed are not compressed again.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { directImports } from './direct-imports.mjs'
import { usedStyles } from './used-styles.mjs'

const HOME = fileURLToPath(new URL('..', import.meta.url))
const OUTPUT = fileURLToPath(new URL('../../server/dist/console/', import.meta.url))
const ASSETS = join(OUTPUT, 'assets')

/** @type {import('esbuild').BuildOptions & { write: false }} */
const OPTIONS = {
  absWorkingDir: HOME,
  entryPoints: { console: 'src/main.tsx' },
  outdir: ASSETS,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  jsx: 'automatic',
  minify: true,
  legalComments: 'none',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [directImports],
  write: false,
  logLevel: 'error',
}
const scripts = (await build(OPTIONS)).outputFiles.filter(({ path }) => path.endsWith('.js')).map(({ text }) => text)
const { outputFiles, metafile } = await build({
  ...OPTIONS,
  plugins: [directImports, usedStyles(scripts.join('\n'))],
  metafile: true,
})

mkdirSync(ASSETS, { recursive: true })
const old = new Set(readdirSync(ASSETS))
for (const { path, contents } of outputFiles) {
  const copies = { '': () => contents, '.br': () => compress(contents), '.gz': () => gzipSync(contents, { level: 9 }) }
  for (const [suffix, toBytes] of Object.entries(copies)) {
    const name = basename(path) + suffix
    if (!old.delete(name)) writeFileSync(join(ASSETS, name), toBytes())
  }
}
for (const name of old) rmSync(join(ASSETS, name))
writeFileSync(join(OUTPUT, 'index.html'), toPage())
cpSync(join(HOME, 'src/icon.svg'), join(OUTPUT, 'icon.svg'))

function compress(bytes) {
  return brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  })
}

/** The page with the names of the files that the first view needs; the server fills in `{{base}}` and `{{nonce}}`. */
function toPage() {
  const [path, { cssBundle, imports }] = Object.entries(metafile.outputs).find(
    ([, { entryPoint }]) => entryPoint === 'src/main.tsx',
  )
  const toUrl = (file) => `{{base}}console/assets/${basename(file)}`
  const needed = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path)
  const head = [
    ...(cssBundle ? [`<link rel="stylesheet" href="${toUrl(cssBundle)}">`] : []),
    ...needed.map((file) => `<link rel="modulepreload" href="${toUrl(file)}">`),
    `<script type="module" nonce="{{nonce}}" src="${toUrl(path)}"></script>`,
  ]
  return readFileSync(join(HOME, 'src/index.html'), 'utf8').replace('<!-- files -->', head.join('\n    '))
}
