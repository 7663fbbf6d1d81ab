import { detectLanguage, latinShare } from '../words/language.js'
import { tokenize } from '../words/tokenize.js'
import { parseWordQuery, type WordQuery } from '../words/word-query.js'
import { namedLanguages } from './named-languages.js'

/** A request of several sentences often holds several wishes; so many of them are looked for on their own. */
const MAX_SENTENCES = 4
/** Telling words that a sentence needs to be a wish of its own: "Hello, chatbot!" is none. */
const MIN_SENTENCE_WORDS = 3
/** Longer requests are cut: no model reads them to the end. */
const MAX_QUERY_LENGTH = 2000

/** How far an English model is believed: in other languages of Latin script it knows loan words and names. */
const TRUST_IN_OTHER_LATIN = 0.3
/** Share of Latin letters below which an English model sees nothing but unknown signs. */
const MIN_LATIN_SHARE = 0.5

/** What a query asks for. */
export interface Query {
  readonly text: string
  readonly words: WordQuery
  /** To be embedded: the whole query, then its sentences; an agent is as near as the nearest of them. */
  readonly texts: readonly string[]
  /** The language it is written in, as far as can be told. */
  readonly language: string | undefined
  /** Languages that it names: "translate to Chinese" (AIDIP-00 §5.4). */
  readonly namedLanguages: readonly string[]
  /** How far the meaning of the query can be told by the model, 0 to 1. */
  readonly meaningTrust: number
}

export interface QueryOptions {
  /** Languages that the embedding model reads; the built-in one knows English only. */
  modelLanguages?: readonly string[] | 'all'
}

/** Reads a query once for words, meaning and ranking. */
export function readQuery(text: string, { modelLanguages = ['en'] }: QueryOptions = {}): Query {
  const cut = text.slice(0, MAX_QUERY_LENGTH)
  const language = detectLanguage(cut)
  return {
    text: cut,
    words: parseWordQuery(cut, language),
    texts: [...new Set([cut, ...sentencesOf(cut, language)])],
    language,
    namedLanguages: namedLanguages(cut),
    meaningTrust: meaningTrust(cut, language, modelLanguages),
  }
}

function sentencesOf(text: string, language: string | undefined): string[] {
  const sentences = (text.match(/[^.!?。！？\n]+[.!?。！？]*/g) ?? []).map((sentence) => sentence.trim())
  return sentences
    .filter((sentence) => tokenize(sentence, { language }).length >= MIN_SENTENCE_WORDS)
    .slice(0, MAX_SENTENCES)
}

function meaningTrust(text: string, language: string | undefined, modelLanguages: readonly string[] | 'all'): number {
  if (modelLanguages === 'all' || (language !== undefined && modelLanguages.includes(language))) return 1
  if (latinShare(text) < MIN_LATIN_SHARE) return 0
  return language === undefined ? 1 : TRUST_IN_OTHER_LATIN
}
