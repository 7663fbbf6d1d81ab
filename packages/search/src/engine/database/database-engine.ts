import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { StaticEncoder } from '../../embedding/static-encoder.js'
import { type LexiconFile, openLexicon } from '../../lexicon/lexicon.js'
import { NumberSet } from '../../number-set.js'
import type { Query } from '../../ranking/read-query.js'
import { wordsOf } from '../../spelling/vocabulary.js'
import { createTextSearch, RERANK_LIMIT, type TextHit } from '../../text-search.js'
import { unpackVectors } from '../../vectors/packed-vectors.js'
import { quantiseQuery } from '../../vectors/quantise.js'
import { createWordIndex } from '../../words/word-index.js'
import { SearchError } from '../search-error.js'
import type { TextEngine } from '../text-engine.js'
import { createChangeQueue } from './change-queue.js'
import { allTerms, chooseTerms } from './choose-terms.js'
import { createCorpus } from './corpus.js'
import { createDatabaseSpeller } from './database-speller.js'
import { createTextCache } from './text-cache.js'
import type { AcceptedRows, FoundRow, TextTables } from './text-tables.js'

/**
 * Increase it when the same text gets other terms, impacts, words or static vectors: all rows are put again. A digest of the
 * code would do so at every release.
 */
const ANALYSIS_VERSION = 1
/** Agents found by words, by a rough score, for each one that is ranked with all evidence. */
const ROUGH = 3
/** Agents that are ranked at most. Further matches follow in registration order: their texts are not read. */
const MAX_RANKED = 2000
/** Up to this many accepted agents are named: the database compares all of them. */
const FEW = 2000
/** If at least this share of all agents is accepted, the database is asked without a filter and the others are left out here. */
const NEARLY_ALL = 0.9
/** Rows that are read beyond the limit, to have enough when some are sorted out. */
const SPARE = 1.25
/** The impact of a term is compared at this length of text, which is about the average. */
const TYPICAL_LENGTH = 100
/** Vectors of one agent that the database compares; the ranking compares all of them. */
const MAX_VECTORS = 256
/** How often a search is ranked at most: each time it may need frequencies that must be read first. */
const MAX_PASSES = 4

/** Options of `createDatabaseEngine`. */
export interface DatabaseEngineOptions {
  /** See `TextSearchOptions`. */
  readonly rerankLimit?: number | undefined
  /** The static embedding. Default: none. */
  readonly encoder?: StaticEncoder | undefined
  /** Words to add to the lexicon. Default: none. */
  readonly lexicon?: readonly LexiconFile[]
  /** A change could not be made: the agent is found by its filters only. */
  readonly onProblem?: (message: string) => void
}

/**
 * Finds candidates in a database, which several processes may share, and ranks them here. Holds no index, only the texts
 * of the agents that were found last.
 */
export function createDatabaseEngine(
  tables: TextTables,
  { rerankLimit = RERANK_LIMIT, encoder, lexicon: files = [], onProblem = () => {} }: DatabaseEngineOptions = {},
): TextEngine {
  const lexicon = openLexicon(files)
  const corpus = createCorpus(tables)
  const words = createWordIndex({ corpus })
  const spelling = createDatabaseSpeller(tables, corpus, { english: encoder?.words, lexicon })
  const search = createTextSearch({ rerankLimit, encoder, lexicon, words, speller: spelling.speller })
  const cache = createTextCache(search, tables)
  let dimensions: number | undefined
  const queue = createChangeQueue({
    tables,
    onProblem,
    onPut: (rows) => spelling.learn([...new Set(rows.flatMap((row) => (row.isPublic ? row.words : [])))]),
  })
  // The content of a file counts, not its path: replicas may have it elsewhere.
  const format = [
    ANALYSIS_VERSION,
    encoder?.id,
    ...files.map(({ language, path }) => `${language} ${digestOf(path)}`),
  ].join(' ')
  // Read before the agents are loaded: one that another replica adds later is not among these, so it is not taken for one
  // that was removed.
  let versionsAtOpen: ReturnType<TextTables['versions']> | undefined = tables.versions()
  versionsAtOpen.catch(() => {})

  /** Translates errors of the database. */
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof SearchError || !(error instanceof Error && 'code' in error)) throw error
      throw new SearchError('unavailable', `the database of the text index: ${String(error)}`)
    }
  }

  const acceptedRows = (accepted: NumberSet): AcceptedRows => {
    if (accepted.size <= FEW) return { few: [...accepted] }
    const { buffer, byteOffset, byteLength } = accepted.bits
    return { bits: new Uint8Array(buffer, byteOffset, byteLength) }
  }

  /** Reads `limit` rows that are accepted. If nearly all agents are, the others are sorted out here. */
  const readAccepted = async (
    read: (accepted: AcceptedRows, limit: number) => Promise<readonly FoundRow[]>,
    accepted: NumberSet,
    limit: number,
  ): Promise<readonly FoundRow[]> => {
    if (accepted.size > FEW && accepted.size >= NEARLY_ALL * corpus.statistics.agents) {
      const wanted = Math.ceil(limit * SPARE)
      const rows = await read(undefined, wanted)
      const passed = rows.filter(({ number }) => accepted.has(number))
      if (passed.length >= limit || rows.length < wanted) return passed.slice(0, limit)
    }
    return read(acceptedRows(accepted), limit)
  }

  const byWords = async ({ words: query }: Query, accepted: NumberSet, limit: number): Promise<readonly FoundRow[]> => {
    if (query.terms.length === 0) return []
    const share = accepted.size / Math.max(corpus.statistics.agents, 1)
    const isFew = accepted.size <= FEW
    const chosen = chooseTerms(query, corpus, limit, Math.min(1, share))
    const read = (terms: typeof chosen) =>
      readAccepted((rows, count) => tables.byTerms(terms, rows, count), accepted, limit)
    const rows = await read(isFew ? allTerms(chosen) : chosen)
    return rows.length >= limit || chosen.isAll || isFew ? rows : read(allTerms(chosen))
  }

  const byVectors = (query: Query, vectors: readonly Float32Array[], accepted: NumberSet) => {
    const nearest = (kind: 'static' | 'model', vector: Float32Array): Promise<readonly FoundRow[]> => {
      const codes = quantiseQuery(vector)
      if (codes.every((code) => code === 0)) return Promise.resolve([])
      return readAccepted((rows, count) => tables.byVector(kind, codes, rows, count), accepted, rerankLimit)
    }
    const [english] = encoder && query.englishWeight > 0 ? query.englishTexts : []
    const encoded = english === undefined ? undefined : encoder?.encode(english)
    return [...(encoded ? [nearest('static', encoded)] : []), ...vectors.map((vector) => nearest('model', vector))]
  }

  /** Agents that may be among the best, and how many contain a word of the query. */
  const candidates = async (
    query: Query,
    vectors: readonly Float32Array[],
    { accepted, end, all }: { readonly accepted: NumberSet; readonly end: number; readonly all: boolean },
  ) => {
    const terms = query.words.terms.map(({ term }) => term)
    await corpus.refresh(terms)
    // In steps, so that the pages of a query are cut from the same candidates.
    const steps = Math.ceil(Math.log2(Math.max(1, Math.min(end, MAX_RANKED) / rerankLimit)))
    const limit = Math.min(ROUGH * rerankLimit * 2 ** steps, Math.max(MAX_RANKED, ROUGH * rerankLimit))
    const listsAll = all || end > limit
    const rows = acceptedRows(accepted)
    const hasTerms = terms.length > 0 && accepted.size > 0
    const [numbers, total, ...found] = await Promise.all([
      listsAll && hasTerms ? tables.matching(terms, rows) : [],
      !listsAll && hasTerms ? tables.count(terms, rows) : 0,
      ...(accepted.size === 0 ? [] : [byWords(query, accepted, limit), ...byVectors(query, vectors, accepted)]),
    ])
    return { rows: found.flat(), total: listsAll ? numbers.length : total, numbers }
  }

  /** Ranks again, until all frequencies that it needs are known. */
  const ranked = async <T>(rows: readonly FoundRow[], work: (numbers: readonly number[]) => T): Promise<T> => {
    for (let pass = 1; ; pass++) {
      const { result, isComplete } = await cache.use(rows, (numbers) => corpus.complete(() => work(numbers)))
      if (isComplete || pass === MAX_PASSES) return result
    }
  }

  return {
    get bytes() {
      return search.bytes
    },
    put(number, text, isPublic, version) {
      const content = JSON.stringify(text)
      cache.put(number, text, version, isPublic, content.length)
      const row = {
        number,
        version,
        format,
        isPublic,
        length: words.lengthOf(number),
        terms: words.indexedTerms(number, TYPICAL_LENGTH),
        words: [...wordsOf(text.fields)],
        content,
        vectors: search.staticCodes(number).slice(0, MAX_VECTORS),
      }
      queue.add({ kind: 'put', number, row })
    },
    remove(number) {
      cache.remove(number)
      queue.add({ kind: 'remove', number })
    },
    setDimensions(value, model) {
      dimensions = value
      search.setDimensions(value)
      cache.forgetVectors()
      queue.add({ kind: 'setDimensions', dimensions: value, model })
    },
    putVectors(number, packed) {
      const codes = dimensions === undefined ? undefined : unpackVectors(packed, dimensions)
      if (codes) {
        const vectors = { number, codes: codes.slice(0, MAX_VECTORS), packed }
        queue.add({ kind: 'putVectors', number, vectors })
      }
    },
    removeVectors: (number) => queue.add({ kind: 'removeVectors', number }),
    versions: () =>
      attempt(async () => {
        const rows = versionsAtOpen ?? tables.versions()
        versionsAtOpen = undefined
        // NaN: of no version.
        const known = Array.from(
          await rows,
          ([number, row]) => [number, row.format === format ? row.version : Number.NaN] as const,
        )
        return new Map(known)
      }),
    settled: () => attempt(queue.settled),
    // Every change is in the database already.
    save: async () => true,
    read: (text, options) =>
      attempt(async () => {
        await queue.settled()
        await corpus.refresh([])
        return spelling.answering(options?.privateAgents ?? [], () => search.read(text, options))
      }),
    suggest: (unknown) => attempt(() => spelling.answering([], () => search.suggest(unknown))),
    search: (query, vectors, { accepted, skip, take, all = false }, adjust) =>
      attempt(async () => {
        await queue.settled()
        const end = skip + take
        const { rows, total, numbers } = await candidates(query, vectors, { accepted, end, all })
        return ranked(rows, (present) => {
          const found = search.find(query, vectors, { accepted: new NumberSet(present), end })
          const hits = take > 0 ? found.rank(adjust(found.numbers)) : []
          return {
            hits: (take > 0 && end > hits.length ? [...hits, ...unranked(numbers, hits)] : hits).slice(skip, end),
            total: total + found.total - found.totalByWords,
            all: all ? new Set([...numbers, ...found.matching()]) : [],
          }
        })
      }),
    evidence: (query, vectors, numbers) =>
      attempt(async () => {
        await queue.settled()
        const rows = numbers.length > 0 ? await tables.found(numbers) : []
        return ranked(rows, () => numbers.map((number) => search.evidence(query, vectors, number)))
      }),
    onLost() {},
    async close() {
      await queue.close()
      await tables.close()
    },
  }
}

const digestOf = (path: string): string => hash('sha256', readFileSync(path)).slice(0, 16)

/** The matches that were not ranked: none is better than those that were. */
function unranked(numbers: readonly number[], hits: readonly TextHit[]): TextHit[] {
  const ranked = new Set(hits.map(({ number }) => number))
  const score = hits.at(-1)?.score ?? 0
  return numbers
    .filter((number) => !ranked.has(number))
    .sort((a, b) => a - b)
    .map((number) => ({ number, score, ownScore: 0, evidence: 0, parts: NO_PARTS }))
}

const NO_PARTS = { words: 0, meaning: 0, direction: 0, language: 0 }
