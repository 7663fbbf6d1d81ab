import { join } from 'node:path'
import {
  builtInStaticEncoder,
  createBuiltInEmbedder,
  createDatabaseEngine,
  createOnnxFolderEmbedder,
  createThreadEngine,
  EmbeddingError,
  type Lexicon,
  LexiconError,
  openLexicon,
  type SearchThread,
  type TextEngine,
  type TextTables,
} from '@switchboard/search'
import { type Config, ConfigError } from '../config/settings.js'
import { createEmbeddedTexts } from '../services/discovery/embedded-texts.js'
import {
  createEmbeddingQueue,
  type EmbeddingQueue,
  type EmbeddingQueueOptions,
} from '../services/discovery/embedding-queue.js'
import { createRemoteEmbedder } from '../services/discovery/remote-embedder.js'
import { createSearchChoices, type SearchChoices } from '../services/discovery/search-choices.js'
import { createWordIndexing, type WordIndexing } from '../services/discovery/word-indexing.js'
import type { Catalog } from '../services/registry/catalog.js'
import { openTextTables } from '../store/postgres/text-tables.js'
import { StoreError } from '../store/store-error.js'
import type { StoreHealth } from '../store/store-health.js'
import type { Base } from './base.js'
import type { LimitParts } from './limits.js'

/** Languages that the built-in model understands. */
const BUILT_IN_LANGUAGES = ['en']
/** The saved text index, in the folder of the embedded store. */
const INDEX_FILE = 'search-index.bin'

export interface Discovery {
  readonly embeddings: EmbeddingQueue
  readonly wordIndexing: WordIndexing
  readonly choices: SearchChoices | undefined
}

/** Indexes words and static vectors in the background, and embeds with the model that the operator chose. */
export async function wireDiscovery(
  { config, store, log, metrics, now, logError }: Base,
  catalog: Catalog,
  engine: TextEngine,
  lexicon: Lexicon,
  { replicas }: LimitParts,
): Promise<Discovery> {
  const wordIndexing = createWordIndexing({
    index: catalog.index,
    engine,
    onError: logError('could not index agents, or save the index'),
  })
  const model = chooseEmbedder(config)
  const embeddings = createEmbeddingQueue({
    ...model,
    texts: createEmbeddedTexts(model.languages, lexicon),
    queryTimeoutMs: config.search.embedTimeoutMs,
    store,
    claim: replicas.claim,
    catalog,
    onError: logError('the embedding model is not responding; searching without it'),
    onProgress: (progress) => log.info(progress, 'embedding agents'),
  })
  metrics.gauges({ pendingVectors: () => embeddings.pending, embeddingQueue: () => embeddings.pending })
  catalog.subscribe(wordIndexing)
  catalog.subscribe(embeddings)
  const choices = config.search.learn
    ? await createSearchChoices({
        store,
        claim: replicas.claim,
        byNumber: catalog.byNumber,
        now,
        onError: logError('could not store what callers chose after searches'),
      })
    : undefined
  return { embeddings, wordIndexing, choices }
}

/** The lexicon with the words that the operator adds to it. */
export function wireLexicon({ search: { lexicon: files } }: Config): Lexicon {
  try {
    return openLexicon(files)
  } catch (error) {
    throw error instanceof LexiconError ? new ConfigError(`search.lexicon: ${error.message}`) : error
  }
}

/** The text index: in a thread of its own, or in the database. */
export function wireEngine(
  { config: { search, data, database }, log }: Base,
  { thread, textTables }: { thread: SearchThread | undefined; textTables: TextTables | undefined },
): TextEngine {
  const isStatic = search.semantic && search.embedder !== 'none'
  const options = {
    rerankLimit: search.rerankLimit,
    lexicon: search.lexicon,
    onProblem: (problem: string) => log.error({ problem }, 'could not index an agent: only filters find it'),
  }
  if (textTables)
    return createDatabaseEngine(textTables, { ...options, encoder: isStatic ? builtInStaticEncoder() : undefined })
  const engine = createThreadEngine({
    ...options,
    thread,
    isStatic,
    path: search.indexFile ?? (database === undefined ? join(data, INDEX_FILE) : undefined),
    onRejected: (reason) => log.warn({ reason }, 'the saved index cannot be used: indexing all agents'),
  })
  engine.onLost(() => log.error('the search thread has stopped and was started again: indexing all agents'))
  return engine
}

/** The tables of the text index, if it is in the database. */
export async function openTextIndex(
  { search, database }: Config,
  health: StoreHealth,
): Promise<TextTables | undefined> {
  if (search.engine !== 'postgres' || database === undefined) return undefined
  try {
    return await openTextTables(database, health)
  } catch (error) {
    if (error instanceof StoreError && error.code === 'unsupported')
      throw new ConfigError(`search.engine "postgres": ${error.message}`)
    throw error
  }
}

/** Throws if the operator's model folder cannot be used. Before anything else: a start with it would fail later, in silence. */
export async function assertModelFolder({ search: { semantic, embedder } }: Config): Promise<void> {
  if (!semantic || typeof embedder === 'string' || !('folder' in embedder)) return
  try {
    await (await createOnnxFolderEmbedder(embedder.folder)).close()
  } catch (error) {
    if (error instanceof EmbeddingError) throw new ConfigError(`search.embedder.folder: ${error.message}`)
    throw error
  }
}

function chooseEmbedder({ search: { semantic, embedder } }: Config): Pick<EmbeddingQueueOptions, 'open' | 'languages'> {
  if (!semantic || embedder === 'none' || embedder === 'static') return { open: undefined, languages: [] }
  if (embedder === 'builtin')
    return { open: (signal) => createBuiltInEmbedder({ signal }), languages: BUILT_IN_LANGUAGES }
  const languages = embedder.languages ?? 'all'
  if ('folder' in embedder)
    return { open: (signal) => createOnnxFolderEmbedder(embedder.folder, { signal }), languages }
  return { open: (signal) => createRemoteEmbedder({ ...embedder, signal }), languages }
}
