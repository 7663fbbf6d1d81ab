import type { CheckedAgent } from '../abuse/abuse-checks.js'
import type { AbuseFinding } from '../abuse/abuse-finding.js'
import type { AgentText } from '../agent-text.js'
import type { LexiconFile } from '../lexicon/lexicon.js'
import type { Query } from '../ranking/read-query.js'
import type { Adjustments, FoundBecause, ReadOptions, ReadQuery, TextHit, TextSearch } from '../text-search.js'

/** What an index in a thread consists of. */
export interface ThreadIndexOptions {
  /** See `TextSearchOptions`. */
  readonly rerankLimit?: number | undefined
  /** Whether agents are found by the built-in static embedding. Default: false. */
  readonly isStatic?: boolean
  /** Words to add to the lexicon. Default: none. */
  readonly lexicon?: readonly LexiconFile[]
  /** The file to save to. Default: the index is not saved. */
  readonly path?: string | undefined
  /** Whether to go on from what the file contains. Default: false. */
  readonly isRestored?: boolean
}

/** Changes of an index; the thread sends no response. */
export type Change =
  | { readonly kind: 'open'; readonly options: ThreadIndexOptions }
  | { readonly kind: 'close' }
  | {
      readonly kind: 'put'
      readonly number: number
      readonly text: AgentText
      readonly isPublic: boolean
      readonly version: number | undefined
    }
  | { readonly kind: 'remove'; readonly number: number }
  | { readonly kind: 'setDimensions'; readonly dimensions: number }
  | { readonly kind: 'putVectors'; readonly number: number; readonly packed: Uint8Array }
  | { readonly kind: 'removeVectors'; readonly number: number }
  /** An index that only checks agents for abuse. */
  | { readonly kind: 'openChecks' }
  | { readonly kind: 'forget'; readonly number: number }

/** A query and its embeddings. */
export interface Asked {
  readonly query: Query
  readonly vectors: readonly Float32Array[]
}

/** What can be asked of an index: the parameters, and the result. */
export interface Requests {
  settled: { params: object; result: undefined }
  read: { params: { readonly text: string; readonly options: ReadOptions | undefined }; result: ReadQuery }
  suggest: { params: { readonly unknown: readonly string[] }; result: readonly string[] }
  /** The candidates of a search. They are kept under the id of the request until they are ranked, if `isKept`. */
  find: {
    params: Asked & {
      /** `NumberSet.bits` */
      readonly accepted: Uint32Array<ArrayBuffer>
      readonly approximate: boolean
      readonly end: number
      readonly isKept: boolean
      readonly all: boolean
    }
    result: { readonly numbers: readonly number[]; readonly total: number; readonly all: readonly number[] }
  }
  rank: {
    params: {
      readonly found: number
      readonly adjustments: Adjustments
      readonly skip: number
      readonly take: number
    }
    result: readonly TextHit[]
  }
  /** With the reason why the file was not used. */
  versions: {
    params: object
    result: { readonly versions: ReadonlyMap<number, number>; readonly rejected: string | undefined }
  }
  save: { params: object; result: boolean }
  /** Of an index that was opened by `openChecks`. It need not be sent at once. */
  check: { params: { readonly number: number; readonly agent: CheckedAgent }; result: readonly AbuseFinding[] }
  evidence: { params: Asked & { readonly numbers: readonly number[] }; result: readonly FoundBecause[] }
}

export type RequestKind = keyof Requests

export type Request = {
  [Kind in RequestKind]: { readonly kind: Kind; readonly id: number } & Requests[Kind]['params']
}[RequestKind]

/** Both threads receive lists of messages. */
export type ToThread = { readonly index: number } & (Change | Request)

export type FromThread = { readonly index: number } & (
  | { readonly id: number; readonly result: unknown; readonly bytes: TextSearch['bytes'] }
  | { readonly id: number; readonly failed: string }
  /** A change could not be made. */
  | { readonly problem: string }
)
