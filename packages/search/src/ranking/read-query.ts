import { detectLanguage, latinShare } from '../words/detect-language.js'
import { tokenize } from '../words/tokenize.js'
import { parseWordQuery, type WordQuery } from '../words/word-query.js'
import { namedLanguages } from './named-languages.js'

/** A request of several sentences often contains several tasks; this many sentences are embedded on their own. */
const MAX_SENTENCES = 4
/** Terms, without stop words, that a sentence needs to be embedded on its own: "Hello, chatbot!" is no task. */
const MIN_SENTENCE_TERMS = 3
/** Longer queries are truncated, in characters: no model reads them to the end. */
const MAX_QUERY_LENGTH = 2000

/** Semantic weight of a query in a Latin-script language that the model does not know: it recognises loan words and names. */
const OTHER_LATIN_WEIGHT = 0.3
/** Share of Latin letters below which an English model sees only unknown tokens. */
const MIN_LATIN_SHARE = 0.5

/** A parsed query. */
export interface Query {
  readonly text: string
  readonly words: WordQuery
  /** Texts to embed: the whole query, then its sentences. An agent's similarity is the maximum over them. */
  readonly texts: readonly string[]
  /** The language the query is written in, as a primary BCP 47 subtag; undefined if not recognised. */
  readonly language: string | undefined
  /** Languages the query mentions: "translate to Chinese" (AIDIP-00 §5.4). */
  readonly namedLanguages: readonly string[]
  /** How much embeddings count for this query, 0 to 1: 0 if the model does not know its language. */
  readonly semanticWeight: number
}

/** Options of `readQuery`. */
export interface QueryOptions {
  /** Languages that the embedding model knows, as primary BCP 47 subtags. Default: English, like the built-in model. */
  modelLanguages?: readonly string[] | 'all'
}

/**
 * Parses a query for word search, embedding and ranking.
 *
 * @example
 * readQuery('Translate this contract to Chinese').namedLanguages // ['zh']
 */
export function readQuery(text: string, { modelLanguages = ['en'] }: QueryOptions = {}): Query {
  const truncated = text.slice(0, MAX_QUERY_LENGTH)
  const language = detectLanguage(truncated)
  return {
    text: truncated,
    words: parseWordQuery(truncated, language),
    texts: [...new Set([truncated, ...sentencesOf(truncated, language)])],
    language,
    namedLanguages: namedLanguages(truncated),
    semanticWeight: semanticWeight(truncated, language, modelLanguages),
  }
}

function sentencesOf(text: string, language: string | undefined): string[] {
  const sentences = (text.match(/[^.!?。！？\n]+[.!?。！？]*/g) ?? []).map((sentence) => sentence.trim())
  return sentences
    .filter((sentence) => tokenize(sentence, { language }).length >= MIN_SENTENCE_TERMS)
    .slice(0, MAX_SENTENCES)
}

function semanticWeight(text: string, language: string | undefined, modelLanguages: readonly string[] | 'all'): number {
  if (modelLanguages === 'all' || (language !== undefined && modelLanguages.includes(language))) return 1
  if (latinShare(text) < MIN_LATIN_SHARE) return 0
  return language === undefined ? 1 : OTHER_LATIN_WEIGHT
}
