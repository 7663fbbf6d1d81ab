import type { Embedder } from './embedder.js'
import { EmbeddingError } from './embedding-error.js'
import { readManifest } from './model-folder.js'
import { createTextQueue } from './round-robin-queue.js'
import { type ModelProcess, startModelProcess } from './start-model-process.js'

/** What may be set of an embedder that runs a model here. */
export interface LocalEmbedderOptions {
  /** Texts that may wait for the model before `embed` rejects with `overloaded`; 4,096 if not given. */
  readonly maxWaiting?: number
}

/** To be raised when the tokenizer gives other ids for the same text, so that kept vectors are not compared with new. */
const TEXT_VERSION = 1

/** Far more than fits into any model of this kind; so that a text of megabytes is not sent to the process. */
const MAX_CHARACTERS = 16_384

const MAX_WAITING = 4096

/** Few, so that a query does not wait long behind documents; a message costs little beside the texts in it. */
const BATCH = 2

/** While the model works at one batch the next is there already, even if this process is busy. */
const LANES = 2

/**
 * Runs the model of a folder in a process of its own:
 * - `manifest.json`: `{ "id", "dimensions", "maxTokens" }`, the id being another one whenever the model is
 * - `vocabulary.json`: SentencePiece's unigrams `[["<unk>", null], ["▁the", -3.57], …]`; a piece's place is its id, the
 *   first is "unknown", and those with null are never given by a text
 * - `model.onnx`: takes `ids` (int32, [tokens]), gives `vector` (float32, [dimensions])
 *
 * Rejects with an EmbeddingError `model_unavailable` if it cannot be run here. If the process dies, what it was at is
 * rejected with `failed`, and the next call starts another.
 */
export async function createOnnxFolderEmbedder(folder: string, options: LocalEmbedderOptions = {}): Promise<Embedder> {
  const { id, dimensions } = await readManifest(folder)
  let current: Promise<ModelProcess> | undefined

  /** The process, or a new one where there is none. */
  function running(): Promise<ModelProcess> {
    current ??= startModelProcess(folder, () => {
      current = undefined
    })
    return current
  }

  const queue = createTextQueue({
    embed: async (texts) => (await running()).embed(texts),
    limit: options.maxWaiting ?? MAX_WAITING,
    batch: BATCH,
    lanes: LANES,
  })

  await running()
  return {
    id: `${id}/${TEXT_VERSION}`,
    dimensions,
    embed: (texts) => queue.add(texts.map((text) => text.slice(0, MAX_CHARACTERS))),
    async close() {
      queue.close(new EmbeddingError('closed', 'the embedder was closed'))
      const last = await current?.catch(() => undefined)
      await last?.close()
    },
  }
}
