import type { Lexicon } from '../lexicon/lexicon.js'
import { recogniseLanguage } from '../lexicon/recognise-language.js'
import { MAX_QUERY_LENGTH } from '../ranking/read-query.js'
import type { TextFields } from '../words/text-fields.js'
import { stem } from '../words/tokenize.js'
import type { WordIndex } from '../words/word-index.js'
import { type CorrectedText, correctSpelling, suggestWords } from './spelling.js'
import { createVocabulary, type Vocabulary } from './vocabulary.js'

/** Options of `Speller.correct`. */
export interface CorrectOptions {
  /** Numbers of the private agents that the caller sees: their words are not corrected. */
  readonly privateAgents?: readonly number[] | undefined
  /** Changes nothing and only finds out which words are known. */
  readonly exact?: boolean | undefined
}

/** A query after correction, and the language that it was written in, if that was recognised. */
export interface CorrectedQuery extends CorrectedText {
  readonly language: string | undefined
}

/** Corrects queries towards the words of public agents. */
export interface Speller {
  /** Corrects towards the words of a public agent, and no longer towards those that it had before. */
  put(agent: number, fields: TextFields): void
  /** No longer corrects towards the words of the agent. */
  remove(agent: number): void
  correct(text: string, options?: CorrectOptions): CorrectedQuery
  /** Words of agents that are similar to the `unknown` words of a query. */
  suggest(unknown: readonly string[]): string[]
}

/** The words that a speller knows besides those of agents. */
export interface KnownWords {
  /** Words of English, the most frequent first. They are not corrected, and typos may mean the most frequent ones. */
  readonly english?: readonly string[] | undefined
  /** Words of other languages; they are not corrected. */
  readonly lexicon: Lexicon
}

/** Which words agents contain; private agents count only for callers who see them. */
export type WordsOfAgents = Pick<WordIndex, 'frequencyOf' | 'contains' | 'occurTogether'>

/** @param vocabulary default: an empty one */
export function createSpeller(
  words: WordsOfAgents,
  { english = [], lexicon }: KnownWords,
  vocabulary = createVocabulary(),
): Speller {
  const { known, dictionary } = readDictionary(english)
  return {
    put: vocabulary.put,
    remove: vocabulary.remove,
    correct(whole, { privateAgents = [], exact } = {}) {
      const text = whole.slice(0, MAX_QUERY_LENGTH)
      const language = recogniseLanguage(text, lexicon)
      const seesWord = (word: string): boolean => privateAgents.some((number) => words.contains(number, word))
      const isKnown = (word: string): boolean =>
        words.frequencyOf(word) > 0 || known.has(stem(word)) || isInLexicon(word, language, lexicon) || seesWord(word)
      const { occurTogether } = words
      return { ...correctSpelling(text, { vocabulary, dictionary, isKnown, occurTogether, language, exact }), language }
    },
    suggest: (unknown) => suggestWords(unknown, vocabulary),
  }
}

function isInLexicon(word: string, language = 'en', lexicon: Lexicon): boolean {
  if (lexicon.knowsEnglish(word)) return true
  return lexicon.gloss(word, language)?.some(({ parts }) => parts.length > 0) ?? false
}

/** Words of English that typos may mean; rarer ones are as likely to be typos themselves. */
const DICTIONARY_WORDS = 28_000
/** Letters of the shortest one: shorter ones resemble too many words. */
const MIN_DICTIONARY_LETTERS = 5
/** Rarer words of up to this many letters are abbreviations, and almost any letters are one. */
const ABBREVIATION = { letters: 3, rank: 8000 }

function readDictionary(english: readonly string[]): {
  known: ReadonlySet<string>
  dictionary: Vocabulary | undefined
} {
  if (english.length === 0) return { known: new Set(), dictionary: undefined }
  const dictionary = createVocabulary()
  for (const word of english.slice(0, DICTIONARY_WORDS))
    if (word.length >= MIN_DICTIONARY_LETTERS) dictionary.addWord(word)
  const known = english.filter((word, rank) => word.length > ABBREVIATION.letters || rank < ABBREVIATION.rank)
  return { known: new Set(known.map(stem)), dictionary }
}
