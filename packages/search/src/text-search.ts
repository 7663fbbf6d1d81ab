import type { AgentText } from './agent-text.js'
import { type AgentVectorsState, createAgentVectors, type PartSimilarity } from './agent-vectors.js'
import type { StaticEncoder } from './embedding/static-encoder.js'
import { glossRecord } from './lexicon/gloss-record.js'
import { type Lexicon, openLexicon } from './lexicon/lexicon.js'
import type { NumberSet } from './number-set.js'
import { createCalibration } from './ranking/calibrate.js'
import { coverRequest, type Evident, hasSeveralTasks } from './ranking/cover-request.js'
import { diversify } from './ranking/diversify.js'
import { type Candidate, rankCandidates, type ScoreParts } from './ranking/rank-candidates.js'
import { type Query, type QueryOptions, readQuery } from './ranking/read-query.js'
import { type NumberMapState, restoreNumberMap, saveNumberMap } from './saved/number-map.js'
import { type CorrectOptions, createSpeller, type Speller } from './spelling/speller.js'
import type { Correction } from './spelling/spelling.js'
import { createVocabulary, type VocabularyState } from './spelling/vocabulary.js'
import { byScore } from './top-k.js'
import type { InvertedIndexState } from './words/inverted-index.js'
import { withGloss } from './words/text-fields.js'
import { createWordIndex, type WordHit, type WordIndex, type WordMatch } from './words/word-index.js'

/** Default for `TextSearchOptions.rerankLimit`. */
export const RERANK_LIMIT = 100

/** Which agents may be found, and how many are needed. */
export interface TextFilter {
  /** The agents that pass the hard filters, which are applied before ranking. */
  readonly accepted: NumberSet
  /** Nearly all agents are accepted: an approximate vector search is good enough, and much faster. */
  readonly approximate?: boolean
  /** How many of the first matches are needed in their order. */
  readonly end: number
}

/** What counts for a score besides the query, for each agent of `Candidates.numbers`, in their order. */
export interface Adjustments {
  /** Multipliers of scores. Default: 1. */
  readonly factors?: ArrayLike<number> | undefined
  /** How far scores are raised at the end: 0 leaves one as it is, 1 raises it to 1. */
  readonly boosts?: ArrayLike<number> | undefined
  /** How far agents convert in the direction of the request (`createDirectionFit`), for as many as were compared. */
  readonly directions?: ArrayLike<number> | undefined
  /** Near-duplicates by one publisher are detected at a lower similarity. */
  readonly publishers: readonly (string | undefined)[]
}

/** A ranked agent. */
export interface TextHit extends Evident {
  /** What the agent would score on its own, before factors. */
  readonly parts: ScoreParts
  /** By how much the agent's own score was lowered because better results are nearly the same. */
  readonly duplicateLoss?: number
  /** The score before the agent is compared with its rivals (`createCalibration`). */
  readonly ownScore: number
  /** By how much the boost has raised the score; undefined: it was not applied. */
  readonly raised?: number
}

/** An agent whose score is not calibrated yet. */
type OwnHit = Omit<TextHit, 'ownScore' | 'raised'>

/** The matches of a query, before anything but the query counts. */
export interface Candidates {
  /** Number of matches. */
  readonly total: number
  /** Those of them that contain a word of the query. */
  readonly totalByWords: number
  /**
   * The best by words and embeddings, about in their order; then, as far as `TextFilter.end` needs them, the others in the
   * order of their word scores.
   */
  readonly numbers: readonly number[]
  /** All of `numbers`, in their final order. */
  rank(adjustments: Adjustments): TextHit[]
  /** All matches, in no particular order. */
  matching(): number[]
}

/** Why an agent was found. */
export interface FoundBecause {
  readonly words: readonly WordMatch[]
  /** Best first; empty without embeddings. */
  readonly parts: readonly PartSimilarity[]
}

/** How to read the text of a query. */
export interface ReadOptions extends CorrectOptions, Pick<QueryOptions, 'modelLanguages' | 'callerLanguages'> {}

/** The text of a query, ready to be searched for. */
export interface ReadQuery {
  /** Of the text after corrections. */
  readonly query: Query
  /** Words that were taken for typos, and what is searched for instead. */
  readonly corrections: readonly Correction[]
  /** The words of the text if none of them is known. */
  readonly unknown: readonly string[]
}

/** Everything in a `TextSearch` but the model's vectors, to be saved. */
export interface TextSearchState {
  readonly words: InvertedIndexState
  readonly vectors: AgentVectorsState
  readonly vocabulary: VocabularyState
  readonly textLanguages: readonly (readonly [number, string])[]
  readonly declared: readonly (readonly [number, readonly string[]])[]
  readonly versions: NumberMapState
}

/** Hybrid search over agents by number: word index, vector index and ranking. */
export interface TextSearch {
  /** Memory used by the word index and by the vectors. */
  readonly bytes: { readonly words: number; readonly vectors: number }
  /** Valid until the next change. */
  readonly state: TextSearchState
  /** The version of each agent, as it was put. */
  readonly versions: ReadonlyMap<number, number>
  /**
   * From here on the agent is found by words and by the static embedding.
   *
   * @param version of the text, to recognise it after the state was saved and restored
   */
  put(number: number, text: AgentText, isPublic: boolean, version?: number): void
  remove(number: number): void
  /** Sets the dimensions of the model's vectors and drops those that are stored. */
  setDimensions(dimensions: number): void
  /** Sets the model's vectors of `AgentText.embedded`, packed; false if their version or dimensions differ. */
  putVectors(number: number, packed: Uint8Array): boolean
  /** Removes the model's vectors, until the agent gets new ones. */
  removeVectors(number: number): void
  /** The codes of the agent's vectors by the static embedding, in the order of `AgentText.embedded`. */
  staticCodes(number: number): Int8Array[]
  /**
   * Parses a query. Words that no public agent contains are corrected towards words that public agents contain; what
   * private agents contain counts only as far as the caller sees them.
   */
  read(text: string, options?: ReadOptions): ReadQuery
  /** Words of public agents that are similar to the unknown words of a query. */
  readonly suggest: Speller['suggest']
  /** @param vectors the model's embeddings of `query.texts`; empty: search without them */
  find(query: Query, vectors: readonly Float32Array[], filter: TextFilter): Candidates
  evidence(query: Query, vectors: readonly Float32Array[], number: number): FoundBecause
}

/** What a text search consists of. */
export interface TextSearchOptions {
  /**
   * How many agents found by words, and how many vectors, are re-ranked with all evidence. The remaining matches
   * follow in the order of their word scores. Default: 100.
   */
  readonly rerankLimit?: number | undefined
  /** A static embedding (`builtInStaticEncoder`), by which agents are found at once. Default: none. */
  readonly encoder?: StaticEncoder | undefined
  /** What words of other languages mean in English. Default: the lexicon of this package. */
  readonly lexicon?: Lexicon | undefined
  /** The state of another search with the same encoder and lexicon, to go on from. It is taken over, not copied. */
  readonly saved?: TextSearchState | undefined
  /** The words of the agents. Default: an empty index. */
  readonly words?: WordIndex | undefined
  /** Default: one that knows the public agents of `words`. */
  readonly speller?: Speller | undefined
}

/** Searches without a model's vectors until `setDimensions` is called. */
export function createTextSearch({
  rerankLimit = RERANK_LIMIT,
  encoder,
  lexicon = openLexicon(),
  saved,
  words = createWordIndex({ saved: saved?.words }),
  ...options
}: TextSearchOptions = {}): TextSearch {
  const vocabulary = createVocabulary(saved?.vocabulary)
  const speller = options.speller ?? createSpeller(words, { english: encoder?.words, lexicon }, vocabulary)
  const agentVectors = createAgentVectors(encoder, saved?.vectors)
  /** The languages of agents that are not described in English. */
  const textLanguages = new Map<number, string>(saved?.textLanguages)
  /** The languages that agents declare. */
  const declared = new Map<number, readonly string[]>(saved?.declared)
  const versions = saved ? restoreNumberMap(saved.versions) : new Map<number, number>()

  const toCandidate = ({ number, score }: WordHit): Candidate => ({
    number,
    wordScore: score,
    similarities: {},
    languages: declared.get(number),
    textLanguage: textLanguages.get(number),
  })

  return {
    get bytes() {
      return { words: words.bytes, vectors: agentVectors.bytes }
    },
    get state() {
      return {
        words: words.state,
        vectors: agentVectors.state,
        vocabulary: vocabulary.state,
        textLanguages: [...textLanguages],
        declared: [...declared],
        versions: saveNumberMap(versions),
      }
    },
    versions,
    put(number, text, isPublic, version) {
      const gloss = glossRecord(text, lexicon)
      words.put(number, gloss ? withGloss(text.fields, gloss) : text.fields, isPublic)
      if (isPublic) speller.put(number, text.fields)
      else speller.remove(number)
      agentVectors.put(number, text, gloss)
      setOrDelete(textLanguages, number, gloss?.language)
      setOrDelete(declared, number, text.languages)
      setOrDelete(versions, number, version)
    },
    remove(number) {
      words.remove(number)
      speller.remove(number)
      textLanguages.delete(number)
      declared.delete(number)
      versions.delete(number)
      agentVectors.remove(number)
    },
    setDimensions: agentVectors.setDimensions,
    putVectors: agentVectors.putPacked,
    removeVectors: agentVectors.removeModelVectors,
    staticCodes: agentVectors.staticCodes,
    read(written, { modelLanguages, callerLanguages, ...options } = {}) {
      const { text, corrections, unknown, language } = speller.correct(written, options)
      // A corrected text may be recognised as another language.
      const known = corrections.length === 0 ? language : undefined
      const query = readQuery(text, { modelLanguages, callerLanguages, lexicon, language: known })
      return { query, corrections, unknown }
    },
    suggest: speller.suggest,
    find(asked, vectors, { accepted, approximate = false, end }) {
      const query = encoder ? asked : { ...asked, englishWeight: 0 }
      const compared = agentVectors.compare(query, vectors)
      const near = compared.nearest(rerankLimit, { accepted, approximate })
      const found = words.search(query.words, { limit: rerankLimit, accepted, include: near, count: true })
      const similaritiesOf = compared.similaritiesOf(found.hits.map(({ number }) => number))
      const candidates = found.hits.map((hit) => ({ ...toCandidate(hit), similarities: similaritiesOf(hit.number) }))
      const head = rankCandidates(query, found.maxScore, candidates).map(({ number }) => number)
      const isInHead = new Set(head)
      const foundByWords = new Set(found.hits.flatMap(({ number, score }) => (score > 0 ? [number] : [])))
      const total = found.total + head.filter((number) => !foundByWords.has(number)).length
      const tail =
        end <= head.length || head.length >= total
          ? []
          : words
              .search(query.words, { limit: Math.min(end, total), accepted })
              .hits.filter(({ number }) => !isInHead.has(number))
      const numbers = [...head, ...tail.map(({ number }) => number)]

      const rank = ({ factors, boosts, directions, publishers }: Adjustments): TextHit[] => {
        const positions = new Map(numbers.map((number, position) => [number, position]))
        const at = <T>(values: ArrayLike<T> | undefined, number: number): T | undefined =>
          values?.[positions.get(number) ?? -1]
        const score = (unranked: readonly Candidate[]): OwnHit[] =>
          rankCandidates(query, found.maxScore, unranked)
            .map((hit) => ({ ...hit, score: Math.min(1, hit.score * (at(factors, hit.number) ?? 1)) }))
            .sort(byScore)
        const ranked = score(
          directions ? candidates.map((each) => ({ ...each, direction: at(directions, each.number) })) : candidates,
        )
        const covering = hasSeveralTasks(query) ? coverRequest(ranked, words.contributions(query.words)) : ranked
        const diverse = diversify(covering, {
          publisherOf: (number) => at(publishers, number),
          termsOf: words.termsOf,
        })
        // Preferences lower no score: rivals count without them (PROF §5.1).
        const calibrate = createCalibration(diverse, query)
        const first = boosts
          ? boosted(diverse, (number) => at(boosts, number) ?? 0, calibrate)
          : calibrated(diverse, calibrate)
        const others = new Map(score(tail.map(toCandidate)).map((hit) => [hit.number, hit]))
        let lowest = first.at(-1)?.score ?? 1
        const last = tail.flatMap(({ number }) => {
          const hit = others.get(number)
          lowest = Math.min(lowest, hit ? calibrate(hit.score) : lowest)
          return hit ? [{ ...hit, ownScore: hit.score, score: lowest }] : []
        })
        return [...first, ...last]
      }
      return {
        total,
        totalByWords: found.total,
        numbers,
        rank,
        matching: () => [...new Set([...head, ...words.matching(query.words, accepted)])],
      }
    },
    evidence(query, vectors, number) {
      return {
        words: words.matches(query.words, number),
        parts: agentVectors.compare(query, vectors).parts(number),
      }
    },
  }
}

function setOrDelete<T>(values: Map<number, T>, number: number, value: T | undefined): void {
  if (value === undefined) values.delete(number)
  else values.set(number, value)
}

type Calibrate = (score: number) => number

const calibrated = (hits: readonly OwnHit[], calibrate: Calibrate): TextHit[] =>
  hits.map((hit) => ({ ...hit, ownScore: hit.score, score: calibrate(hit.score) }))

const boosted = (hits: readonly OwnHit[], boost: (number: number) => number, calibrate: Calibrate): TextHit[] =>
  hits
    .map((hit) => {
      const score = calibrate(hit.score + (1 - hit.score) * boost(hit.number))
      return { ...hit, ownScore: hit.score, score, raised: score - calibrate(hit.score) }
    })
    .sort(byScore)
