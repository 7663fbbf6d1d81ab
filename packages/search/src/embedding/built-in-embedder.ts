import { fileURLToPath } from 'node:url'
import type { Embedder } from './embedder.js'
import { createOnnxFolderEmbedder, type LocalEmbedderOptions } from './onnx-folder-embedder.js'

/** Made by scripts/build-model.mjs; as far from dist/embedding as from src/embedding. */
const MODEL = fileURLToPath(new URL('../../model', import.meta.url))

/**
 * The model that comes with Switchboard: the Universal Sentence Encoder lite, English, 512 dimensions, 128 tokens.
 *
 * @example
 * const embedder = await createBuiltInEmbedder()
 * const [query] = await embedder.embed(['translate a contract into Chinese'])
 * await embedder.close()
 */
export const createBuiltInEmbedder = (options?: LocalEmbedderOptions): Promise<Embedder> =>
  createOnnxFolderEmbedder(MODEL, options)
