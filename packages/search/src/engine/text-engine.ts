import type { AgentText } from '../agent-text.js'
import type { Query } from '../ranking/read-query.js'
import type {
  Adjustments,
  FoundBecause,
  ReadOptions,
  ReadQuery,
  TextFilter,
  TextHit,
  TextSearch,
} from '../text-search.js'

/** Which matches a search returns. */
export interface SearchWindow extends Omit<TextFilter, 'end'> {
  readonly skip: number
  readonly take: number
  /** Whether to list all matches. */
  readonly all?: boolean
}

/** What a search has found. */
export interface TextMatches {
  /** Those of the window, best first; ties in registration order. */
  readonly hits: readonly TextHit[]
  /** Number of matches. */
  readonly total: number
  /** All matches, in no particular order; empty unless the search asked for them. */
  readonly all: Iterable<number>
}

/** Tells what counts for the scores of these agents besides the query. */
export type Adjust = (numbers: readonly number[]) => Adjustments

/**
 * Finds agents by text: which agents match, in which order, and why. It knows agents by their numbers. A search finds
 * everything that was put before it began.
 */
export interface TextEngine {
  /** Memory used by the word index and by the vectors. */
  readonly bytes: TextSearch['bytes']
  /** @param version of the text, to recognise it after a restart: it differs if anything of the text does */
  put(number: number, text: AgentText, isPublic: boolean, version: number): void
  remove(number: number): void
  /** Drops vectors of other dimensions, or of another model. */
  setDimensions(dimensions: number, model?: string): void
  /** Vectors of other dimensions, or of an agent that is unknown, are ignored. */
  putVectors(number: number, packed: Uint8Array): void
  removeVectors(number: number): void
  /**
   * The agents that it holds since before it was opened, by number, with the versions of their texts; NaN if a text must be
   * put again. Those with the same version need not be put, and those that no longer exist must be removed.
   */
  versions(): Promise<ReadonlyMap<number, number>>
  /** Resolves when all changes until now are done. */
  settled(): Promise<void>
  read(text: string, options?: ReadOptions): Promise<ReadQuery>
  suggest(unknown: readonly string[]): Promise<readonly string[]>
  search(query: Query, vectors: readonly Float32Array[], window: SearchWindow, adjust: Adjust): Promise<TextMatches>
  /** Why each of the agents matches; empty for an agent that is unknown. */
  evidence(query: Query, vectors: readonly Float32Array[], numbers: readonly number[]): Promise<readonly FoundBecause[]>
  /** Keeps what it holds for the next start; false if it changed meanwhile. Model vectors are not kept. */
  save(): Promise<boolean>
  /** Called when everything was lost and must be put again, including the dimensions. */
  onLost(listener: () => void): void
  close(): Promise<void>
}
