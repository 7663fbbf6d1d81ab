import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOnnxFolderEmbedder } from './onnx-folder-embedder.js'

const BUILT_IN = fileURLToPath(new URL('../../model', import.meta.url))

describe('createOnnxFolderEmbedder', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-model-'))
    for (const name of ['manifest.json', 'vocabulary.json', 'model.onnx']) {
      await copyFile(join(BUILT_IN, name), join(folder, name))
    }
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('runs the model in the folder with the id and limits of its manifest', async () => {
    await writeFile(join(folder, 'manifest.json'), '{"id":"mine","dimensions":512,"maxTokens":2}')
    const embedder = await createOnnxFolderEmbedder(folder)
    expect(embedder.id).toMatch(/^mine\//)
    const [cut, longer] = await embedder.embed(['my translator', 'my translator of contracts'])
    expect(cut).toHaveLength(512)
    expect(longer).toEqual(cut)
    await embedder.close()
  })

  it.each([
    ['manifest.json', undefined, 'ENOENT'],
    ['manifest.json', '{"id":', 'JSON'],
    ['manifest.json', '{"id":"","dimensions":512,"maxTokens":128}', 'id'],
    ['manifest.json', '{"id":"mine","dimensions":1.5,"maxTokens":128}', 'dimensions'],
    ['manifest.json', '{"id":"mine","dimensions":3,"maxTokens":128}', 'not 3 floats'],
    ['vocabulary.json', undefined, 'ENOENT'],
    ['vocabulary.json', '[]', 'pieces'],
    ['vocabulary.json', '[["a"]]', 'score'],
    ['model.onnx', undefined, 'model.onnx'],
    ['model.onnx', 'not a model', 'model.onnx'],
  ])('rejects with the reason if %s is %s', async (name, content, reason) => {
    await rm(join(folder, name))
    if (content !== undefined) await writeFile(join(folder, name), content)
    await expect(createOnnxFolderEmbedder(folder)).rejects.toMatchObject({
      code: 'model_unavailable',
      message: expect.stringContaining(reason),
    })
  })
})
