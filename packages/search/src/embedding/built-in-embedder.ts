import { fileURLToPath } from 'node:url'
import type { Embedder } from './embedder.js'
import { createOnnxFolderEmbedder, type OnnxEmbedderOptions } from './onnx-folder-embedder.js'

/** Built by scripts/build-model.mjs; the relative path is the same from dist/embedding and src/embedding. */
const MODEL_FOLDER = fileURLToPath(new URL('../../model', import.meta.url))

/**
 * Loads the model that comes with Switchboard: Universal Sentence Encoder lite, English, 512 dimensions, 128 tokens.
 *
 * @example
 * const embedder = await createBuiltInEmbedder()
 * const [query] = await embedder.embed(['translate a contract into Chinese'])
 * await embedder.close()
 */
export const createBuiltInEmbedder = (options?: OnnxEmbedderOptions): Promise<Embedder> =>
  createOnnxFolderEmbedder(MODEL_FOLDER, options)
