import type { IndexedTerm } from '../../words/word-index.js'

/** An agent as a database indexes it. */
export interface TextRow {
  readonly number: number
  /** See `TextEngine.put`. */
  readonly version: number
  /** How the text was analysed: rows of another format are put again. */
  readonly format: string
  readonly isPublic: boolean
  /** Weighted length of the text. */
  readonly length: number
  readonly terms: readonly IndexedTerm[]
  /** The words as they are written, in lower case, for corrections of queries. */
  readonly words: readonly string[]
  /** The text itself, as JSON. */
  readonly content: string
  /** Codes by the static embedding, one list for each embedded text; empty without one. */
  readonly vectors: readonly Int8Array[]
}

/** The vectors of an agent by the embedding model. */
export interface ModelVectors {
  readonly number: number
  readonly codes: readonly Int8Array[]
  /** The same, as `packVectors` packs them. */
  readonly packed: Uint8Array
}

/** What the rows are, all in all. */
export interface TextStatistics {
  /** Increases with every change of the texts. */
  readonly generation: number
  readonly agents: number
  readonly publicAgents: number
  /** Sum of the lengths of public agents. */
  readonly publicLength: number
}

/** Agents that a caller may find: these few, or those whose bit is set; undefined: all. */
export type AcceptedRows = { readonly few: readonly number[] } | { readonly bits: Uint8Array } | undefined

/** A row that was found. `stamp` changes with the model's vectors of the agent; 0: it has none. */
export interface FoundRow {
  readonly number: number
  readonly version: number
  readonly stamp: number
}

/** A row with its text. */
export interface TextContent extends FoundRow {
  readonly isPublic: boolean
  readonly content: string
  readonly packed: Uint8Array | undefined
}

/** Terms that agents are selected by, and those that they are then ordered by. */
export interface TermQuery {
  /** One of these is enough. With `isLoud` only agents in whose text the term has a high impact. */
  readonly any: readonly { readonly term: string; readonly isLoud: boolean }[]
  readonly weighed: readonly { readonly term: string; readonly weight: number }[]
}

/** How often a term occurs: in public agents, and in those in whose text it has a high impact. */
export interface TermFrequency {
  readonly agents: number
  readonly loud: number
}

/**
 * The tables of a database engine, which several processes may share. Errors of the database have a `code`: `invalid` if
 * an agent cannot be stored; after any other, the same can be tried again.
 */
export interface TextTables {
  versions(): Promise<ReadonlyMap<number, { readonly version: number; readonly format: string }>>
  /** Adds or replaces rows; those that have this version and format already stay as they are. Keeps the model's vectors. */
  put(rows: readonly TextRow[]): Promise<void>
  remove(numbers: readonly number[]): Promise<void>
  /** Drops the model's vectors if they have other dimensions, or are of another model. */
  setDimensions(dimensions: number, model?: string): Promise<void>
  /** Replaces vectors, unless they are the same. The row may be put later. */
  putVectors(vectors: readonly ModelVectors[]): Promise<void>
  removeVectors(numbers: readonly number[]): Promise<void>
  statistics(): Promise<TextStatistics>
  frequencies(terms: readonly string[]): Promise<ReadonlyMap<string, TermFrequency>>
  /** The best rows by a rough score: the sum of the weights of their terms, each times its impact. */
  byTerms(query: TermQuery, accepted: AcceptedRows, limit: number): Promise<FoundRow[]>
  /** The rows with the nearest `limit` vectors, one for each vector. */
  byVector(
    kind: 'static' | 'model',
    query: Int16Array,
    accepted: AcceptedRows,
    limit: number,
  ): Promise<readonly FoundRow[]>
  /** How many rows contain one of the terms. */
  count(terms: readonly string[], accepted: AcceptedRows): Promise<number>
  /** Their numbers. */
  matching(terms: readonly string[], accepted: AcceptedRows): Promise<number[]>
  found(numbers: readonly number[]): Promise<FoundRow[]>
  contents(numbers: readonly number[]): Promise<TextContent[]>
  /** The `limit` most frequent words of public agents, and how many of these contain them. */
  words(limit: number): Promise<ReadonlyMap<string, number>>
  wordFrequencies(words: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Which of the terms one of the agents contains. */
  termsAmong(numbers: readonly number[], terms: readonly string[]): Promise<ReadonlySet<string>>
  /** Whether a public agent contains a term of each list. */
  occurTogether(a: readonly string[], b: readonly string[]): Promise<boolean>
  close(): Promise<void>
}
