export type { CheckedAgent } from './abuse/abuse-checks.js'
export { type AbuseCode, type AbuseFinding, abuseFactor } from './abuse/abuse-finding.js'
export { findAbuse } from './abuse/find-abuse.js'
export {
  type ComparedAgent,
  createNearDuplicateDetector,
  type DuplicateCounts,
  type NearDuplicateDetector,
} from './abuse/near-duplicates.js'
export {
  type AgentIndex,
  type AgentIndexOptions,
  createAgentIndex,
  type PartMatch,
  type Ranked,
  type RankedPage,
  type SearchOptions,
  type TextEvidence,
  type TextQuery,
} from './agent-index.js'
export { type Condition, type ConditionTest, conditionTest, isDecidedByTerms, type NamePattern } from './conditions.js'
export { createBuiltInEmbedder } from './embedding/built-in-embedder.js'
export { type CachedEmbedder, createCachedEmbedder } from './embedding/cached-embedder.js'
export type { Embedder } from './embedding/embedder.js'
export { EmbeddingError, type EmbeddingErrorCode } from './embedding/embedding-error.js'
export { createOnnxFolderEmbedder, type OnnxEmbedderOptions } from './embedding/onnx-folder-embedder.js'
export { builtInStaticEncoder, loadStaticEncoder, type StaticEncoder } from './embedding/static-encoder.js'
export { createDatabaseEngine, type DatabaseEngineOptions } from './engine/database/database-engine.js'
export type {
  AcceptedRows,
  FoundRow,
  ModelVectors,
  TermQuery,
  TextContent,
  TextRow,
  TextTables,
} from './engine/database/text-tables.js'
export { isSearchOutage, SearchError, type SearchErrorCode } from './engine/search-error.js'
export { type SearchThread, startSearchThread } from './engine/start-search-thread.js'
export type { TextEngine } from './engine/text-engine.js'
export { createThreadChecks, type ThreadChecks } from './engine/thread-checks.js'
export { createThreadEngine, type ThreadEngineOptions } from './engine/thread-engine.js'
export {
  type CountedAgent,
  createFacetCounter,
  FACETS,
  type Facet,
  type FacetCounter,
  type FacetValue,
} from './facets.js'
export { glossRecord, type RecordGloss, sentencesOf } from './lexicon/gloss-record.js'
export { type Lexicon, type LexiconFile, openLexicon } from './lexicon/lexicon.js'
export { LexiconError } from './lexicon/parse-lexicon.js'
export type { ListedPage, ListOptions } from './list-page.js'
export { NumberSet } from './number-set.js'
export { createCalibration } from './ranking/calibrate.js'
export { type AgentPart, type EmbeddingText, embeddingTextsOf, partSimilarity } from './ranking/embedding-texts.js'
export { RANKING, type ScoreParts, UNKNOWN_WORDS_FLOOR } from './ranking/rank-candidates.js'
export { type Query, type QueryOptions, readQuery } from './ranking/read-query.js'
export type { IndexedAgent, Selection, View, Work } from './select-agents.js'
export type { Correction } from './spelling/spelling.js'
export type { ReadOptions, ReadQuery } from './text-search.js'
export { packVectors } from './vectors/packed-vectors.js'
export { createVectorIndex, type VectorFilter, type VectorHit, type VectorIndex } from './vectors/vector-index.js'
export type { WordMatch } from './words/word-index.js'
