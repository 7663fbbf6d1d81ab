import { availableParallelism } from 'node:os'
import { createBacklogProcesses } from './backlog-processes.js'
import type { Embedder } from './embedder.js'
import { EmbeddingError } from './embedding-error.js'
import { readManifest } from './model-folder.js'
import { createRoundRobinQueue } from './round-robin-queue.js'
import { type ModelProcess, startModelProcess } from './start-model-process.js'

/** Options of an embedder that runs a model in a child process. */
export interface OnnxEmbedderOptions {
  /** Maximum number of texts waiting for the model; beyond it `embed` rejects with `overloaded`. Default: 4,096. */
  readonly maxQueued?: number
  /** Milliseconds without a response after which the process counts as frozen and is killed. Default: 10,000. */
  readonly frozenMs?: number
  /**
   * Processes of low priority that embed a backlog of documents, beside the one for queries. They are started when they are
   * needed. Default: one for each core, at most 8.
   */
  readonly backlogProcesses?: number
  /** Ends the loading of the model. */
  readonly signal?: AbortSignal
}

/** Increment this when the tokenizer gives different ids for the same text, so that stored vectors are discarded. */
const TOKENIZER_VERSION = 1

/** Longer texts are truncated before they are sent to the process; far beyond what a model of this kind reads. */
const MAX_CHARACTERS = 16_384

const MAX_QUEUED = 4096

/** A batch takes milliseconds, so a process that is silent for this long is frozen, even on a busy machine. */
const FROZEN_MS = 10_000
/** Milliseconds to load a model. */
const LOAD_MS = 60_000

/** Milliseconds before the second restart without a response in between, doubled for each further one, and the maximum. */
const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

/** Small, so that a query does not wait long behind documents; the overhead of a message is negligible. */
const BATCH_SIZE = 2

/** While the model works on one batch, the next one is already in its process. */
const CONCURRENCY = 2

/** Texts of documents that wait, from which further processes are worth their start. */
const BACKLOG = 64
/** Texts of documents in one message; nobody waits behind them. */
const BACKLOG_BATCH_SIZE = 8
const MAX_BACKLOG_PROCESSES = 8

/**
 * Runs the model of a folder in a child process. The folder contains:
 * - `manifest.json`: `{ "id", "dimensions", "maxTokens" }`; the id must change whenever the model does
 * - `vocabulary.json`: the unigram vocabulary of SentencePiece, `[["<unk>", null], ["▁the", -3.57], …]`. A piece's
 *   position is its id, the first one is the unknown piece, and a score of null marks pieces that no text produces
 * - `model.onnx`: input `ids` (int32, [tokens]), output `vector` (float32, [dimensions])
 *
 * Rejects with an EmbeddingError `model_unavailable` if the model cannot be loaded. If the process crashes or freezes, the
 * requests it was working on are rejected with `failed` or `timeout`, and it is restarted: at once, or after a pause if the
 * new process has failed too.
 */
export async function createOnnxFolderEmbedder(folder: string, options: OnnxEmbedderOptions = {}): Promise<Embedder> {
  const { id, dimensions } = await readManifest(folder)
  const { maxQueued = MAX_QUEUED, frozenMs = FROZEN_MS } = options
  const { backlogProcesses = Math.min(availableParallelism(), MAX_BACKLOG_PROCESSES) } = options
  const closing = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal
  let current: Promise<ModelProcess> | undefined
  /** Exits of the process since its last response. */
  let exits = 0
  let pausedUntil = Number.NEGATIVE_INFINITY

  let restart: NodeJS.Timeout | undefined
  let isLoaded = false

  const onExit = (): void => {
    current = undefined
    if (signal.aborted || !isLoaded) return
    exits += 1
    const pauseMs = exits > 1 ? Math.min(FIRST_PAUSE_MS * 2 ** (exits - 2), MAX_PAUSE_MS) : 0
    pausedUntil = performance.now() + pauseMs
    restart = setTimeout(() => {
      pausedUntil = Number.NEGATIVE_INFINITY
      ensureProcess().catch(() => {}) // then the process has exited again
    }, pauseMs).unref()
  }

  async function ensureProcess(): Promise<ModelProcess> {
    if (!current && performance.now() < pausedUntil)
      throw new EmbeddingError('failed', `the model process for ${folder} keeps failing: it is restarted later`)
    current ??= startModelProcess(folder, { onExit, frozenMs, loadMs: LOAD_MS, signal })
    return current
  }

  async function embedBatch(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const vectors = await (await ensureProcess()).embed(texts)
    exits = 0
    return vectors
  }

  const queue = createRoundRobinQueue({
    embed: embedBatch,
    maxQueued,
    batchSize: BATCH_SIZE,
    concurrency: CONCURRENCY,
  })

  const others = createBacklogProcesses({ folder, count: backlogProcesses, signal })
  const backlog = createRoundRobinQueue({
    embed: (texts) => (others.ready > 0 ? others.embed(texts) : queue.add(texts)),
    maxQueued,
    batchSize: BACKLOG_BATCH_SIZE,
    concurrency: () => Math.max(1, CONCURRENCY * others.ready),
  })

  await ensureProcess()
  isLoaded = true
  return {
    id: `${id}/${TOKENIZER_VERSION}`,
    dimensions,
    concurrency: CONCURRENCY * Math.max(1, backlogProcesses),
    embed(texts, { background = false } = {}) {
      const cut = texts.map((text) => text.slice(0, MAX_CHARACTERS))
      if (!background) return queue.add(cut)
      if (backlogProcesses > 0 && backlog.queued + cut.length >= BACKLOG) others.start()
      return backlog.add(cut)
    },
    async close() {
      const reason = new EmbeddingError('closed', 'the embedder was closed')
      queue.close(reason)
      backlog.close(reason)
      clearTimeout(restart)
      closing.abort()
      await others.close()
      const process = await current?.catch(() => undefined)
      await process?.close()
    },
  }
}
