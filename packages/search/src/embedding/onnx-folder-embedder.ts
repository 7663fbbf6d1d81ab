import type { Embedder } from './embedder.js'
import { EmbeddingError } from './embedding-error.js'
import { readManifest } from './model-folder.js'
import { createRoundRobinQueue } from './round-robin-queue.js'
import { type ModelProcess, startModelProcess } from './start-model-process.js'

/** Options of an embedder that runs a model in a child process. */
export interface OnnxEmbedderOptions {
  /** Maximum number of texts waiting for the model; beyond it `embed` rejects with `overloaded`. Default: 4,096. */
  readonly maxQueued?: number
}

/** Increment this when the tokenizer gives different ids for the same text, so that stored vectors are discarded. */
const TOKENIZER_VERSION = 1

/** Longer texts are truncated before they are sent to the process; far beyond what a model of this kind reads. */
const MAX_CHARACTERS = 16_384

const MAX_QUEUED = 4096

/** Small, so that a query does not wait long behind documents; the overhead of a message is negligible. */
const BATCH_SIZE = 2

/** While the model works on one batch, the next one is already in its process. */
const CONCURRENCY = 2

/**
 * Runs the model of a folder in a child process. The folder contains:
 * - `manifest.json`: `{ "id", "dimensions", "maxTokens" }`; the id must change whenever the model does
 * - `vocabulary.json`: the unigram vocabulary of SentencePiece, `[["<unk>", null], ["▁the", -3.57], …]`. A piece's
 *   position is its id, the first one is the unknown piece, and a score of null marks pieces that no text produces
 * - `model.onnx`: input `ids` (int32, [tokens]), output `vector` (float32, [dimensions])
 *
 * Rejects with an EmbeddingError `model_unavailable` if the model cannot be loaded. If the process crashes, the requests
 * it was working on are rejected with `failed`, and the next call starts a new process.
 */
export async function createOnnxFolderEmbedder(folder: string, options: OnnxEmbedderOptions = {}): Promise<Embedder> {
  const { id, dimensions } = await readManifest(folder)
  let current: Promise<ModelProcess> | undefined

  function ensureProcess(): Promise<ModelProcess> {
    current ??= startModelProcess(folder, () => {
      current = undefined
    })
    return current
  }

  const queue = createRoundRobinQueue({
    embed: async (texts) => (await ensureProcess()).embed(texts),
    maxQueued: options.maxQueued ?? MAX_QUEUED,
    batchSize: BATCH_SIZE,
    concurrency: CONCURRENCY,
  })

  await ensureProcess()
  return {
    id: `${id}/${TOKENIZER_VERSION}`,
    dimensions,
    embed: (texts) => queue.add(texts.map((text) => text.slice(0, MAX_CHARACTERS))),
    async close() {
      queue.close(new EmbeddingError('closed', 'the embedder was closed'))
      const process = await current?.catch(() => undefined)
      await process?.close()
    },
  }
}
