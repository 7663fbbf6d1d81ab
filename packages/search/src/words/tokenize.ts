import { stemmer } from 'stemmer'
import { isStopWord, LANGUAGES_OF_WORD } from './stop-words.js'

/** Words with non-ASCII letters are truncated to this prefix: a crude stemmer that works for most inflected languages. */
const PREFIX_STEM_LETTERS = 5
/** Longer words are identifiers or noise and are truncated. */
const MAX_WORD_LETTERS = 40

/** Runs of letters, digits, combining marks and underscores. */
const CHUNKS = /[\p{L}\p{N}\p{M}_]+/gu
/** Scripts written without spaces between words; indexed as character bigrams. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu
export const HAS_UNSPACED = new RegExp(UNSPACED.source, 'u')
/** Characters that are words, or parts of words with a meaning of their own. Kana and Thai letters are sounds. */
const WORD_CHARACTER = /^[\p{Script=Han}\p{Script=Hangul}]$/u
/** No script without spaces has a character before this one, the first of Thai. */
const FIRST_UNSPACED = 0x0e01
const WORD_BOUNDARIES = /_+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const ASCII_WORD = /^[a-z0-9]+$/
const LOWER_CASE = /^[a-z]+$/
const LETTERS = /^[\p{L}\p{M}]+$/u
/** Matches a text that is not pure ASCII. */
export const BEYOND_ASCII = /[\u0080-\uffff]/
/** 1 for each ASCII code that belongs to a chunk: letters, digits and underscore. */
export const IS_ASCII_WORD = Uint8Array.from({ length: 128 }, (_, code) =>
  /\w/.test(String.fromCharCode(code)) ? 1 : 0,
)

/** Where clauses end: at punctuation, and at English conjunctions. */
export const CLAUSE_BORDERS = /[.!?。！？\n,;:、，；：]+|\b(?:and|then|also|but|or)\b/iu

/** A term as indexed, and the word as written. */
export interface Token {
  readonly term: string
  readonly word: string
}

export interface TokenizeOptions {
  /** The language of the text; its stop words are removed in addition to the English ones. */
  language?: string | undefined
  /** For names: stop words count in an agent named "Who is". */
  keepStopWords?: boolean
}

/**
 * The terms of a text, in order. Text is normalised (NFKC, lower case) and English words are stemmed. camelCase and
 * snake_case yield their parts and the whole; Chinese, Japanese, Korean and other scripts without spaces yield character
 * bigrams.
 */
export const tokenize = (text: string, options?: TokenizeOptions): Token[] =>
  chunksOf(text).flatMap((chunk) => chunkTokens(chunk, options))

/** Splits a text at white space and punctuation. */
export const chunksOf = (text: string): readonly string[] => text.normalize('NFKC').match(CHUNKS) ?? []

/** The words of one chunk that consist of letters only: no numbers, and none of a script without spaces. */
export function lettersOf(chunk: string): string[] {
  if (LOWER_CASE.test(chunk)) return [chunk]
  if (HAS_UNSPACED.test(chunk)) return []
  return chunk.split(WORD_BOUNDARIES).filter((part) => LETTERS.test(part))
}

/** The terms of one chunk. */
export function chunkTokens(chunk: string, { language, keepStopWords = false }: TokenizeOptions = {}): Token[] {
  const tokens: Token[] = []
  const add = (word: string): void => {
    const lower = word.toLowerCase()
    if (keepStopWords || !isStopWord(lower, language)) tokens.push({ term: stem(lower), word })
  }
  if (HAS_UNSPACED.test(chunk)) {
    addUnspaced(chunk, tokens, add)
    return tokens
  }
  const parts = partsOf(chunk)
  for (const part of parts) add(part)
  if (parts.length > 1) tokens.push({ term: parts.join('').toLowerCase().slice(0, MAX_WORD_LETTERS), word: chunk })
  return tokens
}

const partsOf = (chunk: string): string[] => chunk.split(WORD_BOUNDARIES).filter((part) => part !== '')

/** Matches a chunk that is one lower-case or capitalised word. */
const PLAIN_WORD = /^[A-Z]?[a-z]+$/

/** The words of a chunk in lower case, not stemmed: camelCase and snake_case are split. */
export function wordsOfChunk(chunk: string): readonly string[] {
  return PLAIN_WORD.test(chunk) ? [chunk.toLowerCase()] : partsOf(chunk).map((part) => part.toLowerCase())
}

function addUnspaced(chunk: string, tokens: Token[], add: (word: string) => void): void {
  let from = 0
  for (const { 0: run, index } of chunk.matchAll(UNSPACED)) {
    if (index > from) add(chunk.slice(from, index))
    from = index + run.length
    const characters = [...run]
    if (characters.length === 1) tokens.push({ term: run, word: run })
    for (let i = 1; i < characters.length; i++) {
      const bigram = `${characters[i - 1]}${characters[i]}`
      tokens.push({ term: bigram, word: bigram })
    }
  }
  if (from < chunk.length) add(chunk.slice(from))
}

/**
 * The two characters of a pair in a script without spaces: those that are searched on their own, and '' for others. Empty
 * for any other term.
 */
export function charactersOfPair(term: string): string[] {
  if (term.length < 2 || term.length > 4 || term.charCodeAt(0) < FIRST_UNSPACED) return []
  const characters = [...term]
  return characters.length === 2 ? characters.map((each) => (WORD_CHARACTER.test(each) ? each : '')) : []
}

/** The Porter stem of an ASCII word, a prefix of any other; in lower case. */
export function stem(word: string): string {
  if (ASCII_WORD.test(word)) return stemmer(word.slice(0, MAX_WORD_LETTERS))
  const folded = word.normalize('NFD').replace(/\p{M}/gu, '')
  return folded.slice(0, PREFIX_STEM_LETTERS)
}

/** A text counts as written in a script if more than this share of its letters is. */
const MAIN_SCRIPT_SHARE = 0.3
/** Japanese is recognised by its kana even if most characters are Han. */
const KANA_SHARE = 0.1

/** Matches a text that may have letters of another script than Latin: the first one after it is Greek. */
const BEYOND_LATIN = /[\u0370-\uffff]/

/** Scripts that imply one language; languages that share a script are distinguished by stop words. */
const LANGUAGE_OF_SCRIPT: readonly (readonly [RegExp, string])[] = [
  [/\p{Script=Hangul}/gu, 'ko'],
  [/\p{Script=Han}/gu, 'zh'],
  [/\p{Script=Thai}/gu, 'th'],
  [/\p{Script=Greek}/gu, 'el'],
  [/\p{Script=Hebrew}/gu, 'he'],
  [/\p{Script=Devanagari}/gu, 'hi'],
]

/**
 * The language of a text as a primary BCP 47 subtag, recognised by script and stop words; undefined if neither helps. A
 * stop word of several languages gives each of them a fraction of a vote.
 */
export function detectLanguage(text: string): string | undefined {
  const share = (script: RegExp): number => (text.match(script)?.length ?? 0) / letters
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  if (letters === 0) return undefined
  if (!BEYOND_LATIN.test(text)) return languageByStopWords(text)
  if (share(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu) > KANA_SHARE) return 'ja'
  for (const [script, language] of LANGUAGE_OF_SCRIPT) if (share(script) > MAIN_SCRIPT_SHARE) return language
  return languageByStopWords(text)
}

function languageByStopWords(text: string): string | undefined {
  const votes = new Map<string, number>()
  for (const word of text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{M}]+/gu) ?? []) {
    const languages = LANGUAGES_OF_WORD.get(word) ?? []
    for (const language of languages) votes.set(language, (votes.get(language) ?? 0) + 1 / languages.length)
  }
  let [best, most] = ['', 0]
  for (const [language, count] of votes) if (count > most) [best, most] = [language, count]
  return best === '' ? undefined : best
}

/** Share of Latin letters: an English model cannot read any others. */
export function latinShare(text: string): number {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters === 0 ? 1 : (text.match(/\p{Script=Latin}/gu)?.length ?? 0) / letters
}
