import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBuiltInEmbedder } from './built-in-embedder.js'
import { createOnnxFolderEmbedder } from './onnx-folder-embedder.js'

const SCRIPT = fileURLToPath(new URL('../../scripts/build-model.mjs', import.meta.url))
const BUILT_IN = fileURLToPath(new URL('../../model', import.meta.url))

const TEXTS = [
  'translate a contract into Chinese',
  'Will I need an umbrella tomorrow?',
  'Extracts invoice totals, tax ids and due dates from PDF files.',
  'GET /v2/users/{id}/orders',
  'I am looking for a quiet hotel near the main station, not more than 120 euros a night, with breakfast.',
  'Résumé écrit en français',
  'ok',
  'A research assistant that reads papers, summarises their methods and results, and keeps a list of citations. '.repeat(
    4,
  ),
]

describe('build-model.mjs', () => {
  let folder: string
  const build = (...options: string[]) => promisify(execFile)(process.execPath, [SCRIPT, '--to', folder, ...options])
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-model-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('is reproducible, and derives the id from the content', async () => {
    const { stdout } = await build()
    expect(stdout).toBe('')
    const hash = createHash('sha256')
    for (const name of ['model.onnx', 'vocabulary.json']) {
      const file = await readFile(join(folder, name))
      expect(file.equals(await readFile(join(BUILT_IN, name)))).toBe(true)
      hash.update(file)
    }
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
    expect(manifest).toEqual(JSON.parse(await readFile(join(BUILT_IN, 'manifest.json'), 'utf8')))
    expect(manifest.id).toBe(`use-lite-en-int8@${hash.digest('hex').slice(0, 12)}`)
  })

  it('gives nearly the same vectors with int8 weights as with fp32', async () => {
    await build('--precision', 'fp32')
    const [int8, fp32] = await Promise.all([createBuiltInEmbedder(), createOnnxFolderEmbedder(folder)])
    const vectors = await Promise.all([int8.embed(TEXTS), fp32.embed(TEXTS)])
    for (const [position, text] of TEXTS.entries()) {
      const [a, b] = vectors.map((each) => each[position])
      const cosine = a?.reduce((sum, value, index) => sum + value * (b?.[index] ?? 0), 0)
      expect(cosine, text).toBeGreaterThan(0.98)
    }
    await Promise.all([int8.close(), fp32.close()])
  })

  it('rejects an unknown precision', async () => {
    await expect(build('--precision', 'int4')).rejects.toThrow('int8 or fp32')
  })
})
