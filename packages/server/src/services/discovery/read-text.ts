import { type Correction, type TextQuery, UNKNOWN_WORDS_FLOOR } from '@switchboard/search'
import type { Span } from '../../telemetry/traces.js'
import type { Context } from '../context.js'
import type { Query } from './query.js'

const TEXT_IS_OFF = 'text search is switched off: the query orders the results but does not filter them'

/** The text of a query, ready to be searched for. */
export interface ReadText {
  readonly text: TextQuery
  readonly warnings: readonly string[]
  readonly corrected: readonly Correction[]
  /** The words of the text if none of them is known. */
  readonly unknown: readonly string[]
}

/** The parsed query and its vectors, if the embedding model is available; otherwise a warning (C-52). */
export async function readText(
  context: Context,
  { caller, exact, languages = [], callerLanguages }: Pick<Query, 'caller' | 'exact' | 'languages' | 'callerLanguages'>,
  words: string,
  parent: Span | undefined,
): Promise<ReadText> {
  const { catalog, hidden, embeddings, searchByText, metrics, traces } = context
  const {
    query: read,
    corrections,
    unknown,
  } = await catalog.index.read(words, {
    exact,
    privateAgents: hidden.shownTo(caller).map(({ number }) => number),
    modelLanguages: embeddings.languages,
    callerLanguages,
  })
  // A model that knows many languages may know words that nobody else does.
  const needsKnownWords = unknown.length > 0 && embeddings.languages !== 'all'
  const query = {
    ...read,
    namedLanguages: [...read.namedLanguages, ...languages],
    ...(needsKnownWords && { minSimilarity: UNKNOWN_WORDS_FLOOR }),
  }
  const spelling = { corrected: corrections, unknown }
  if (!searchByText) return { text: { query, vectors: [] }, warnings: [TEXT_IS_OFF], ...spelling }
  if (query.semanticWeight === 0) return { text: { query, vectors: [] }, warnings: [], ...spelling }
  const started = performance.now()
  const span = traces?.start({ name: 'embed query', kind: 'internal', parent })
  const { vectors, warning } = await embeddings.embed(query.texts)
  span?.end(vectors.length === 0 && warning !== undefined ? 'timeout' : undefined)
  metrics.searchStage('embedding', performance.now() - started)
  if (vectors.length === 0 && warning !== undefined) metrics.searchFallback()
  return { text: { query, vectors }, warnings: warning === undefined ? [] : [warning], ...spelling }
}
