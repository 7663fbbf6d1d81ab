import { stemmer } from 'stemmer'
import { isStopWord } from './stop-words.js'

/** A word with letters beyond ASCII is cut to so many: a stem that serves all inflecting languages. */
const FOREIGN_STEM_LETTERS = 5
/** Longer runs are identifiers or noise; their beginning is enough. */
const MAX_WORD_LETTERS = 40

const CHUNKS = /[\p{L}\p{N}\p{M}_]+/gu
/** Scripts written without spaces between words, which are searched by pairs of characters. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu
const HAS_UNSPACED = new RegExp(UNSPACED.source, 'u')
const WORD_BORDERS = /_+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const PLAIN = /^[a-z0-9]+$/
export const BEYOND_ASCII = /[\u0080-\uffff]/
/** What chunks of plain text are made of, by code: letters, digits and underscore. */
export const IS_ASCII_WORD = Uint8Array.from({ length: 128 }, (_, code) =>
  /\w/.test(String.fromCharCode(code)) ? 1 : 0,
)

/** A term as it is indexed, and the word it was made of. */
export interface Token {
  readonly term: string
  readonly word: string
}

export interface TokenizeOptions {
  /** The language of the text, whose stop words are left out beside the English ones. */
  language?: string | undefined
  /** Names are searched whole: an agent may be called "Who is". */
  keepStopWords?: boolean
}

/**
 * The terms of a text, in order: NFKC, lower case, English stems; camelCase and snake_case give their parts and the
 * whole; Chinese, Japanese, Korean and other unspaced scripts give pairs of characters.
 */
export const tokenize = (text: string, options?: TokenizeOptions): Token[] =>
  chunksOf(text).flatMap((chunk) => chunkTokens(chunk, options))

/** What stands between spaces and punctuation. */
export const chunksOf = (text: string): readonly string[] => text.normalize('NFKC').match(CHUNKS) ?? []

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
  const parts = chunk.split(WORD_BORDERS).filter((part) => part !== '')
  for (const part of parts) add(part)
  if (parts.length > 1) tokens.push({ term: parts.join('').toLowerCase().slice(0, MAX_WORD_LETTERS), word: chunk })
  return tokens
}

function addUnspaced(chunk: string, tokens: Token[], add: (word: string) => void): void {
  let from = 0
  for (const { 0: run, index } of chunk.matchAll(UNSPACED)) {
    if (index > from) add(chunk.slice(from, index))
    from = index + run.length
    const characters = [...run]
    if (characters.length === 1) tokens.push({ term: run, word: run })
    for (let i = 1; i < characters.length; i++) {
      const pair = `${characters[i - 1]}${characters[i]}`
      tokens.push({ term: pair, word: pair })
    }
  }
  if (from < chunk.length) add(chunk.slice(from))
}

/** What the forms of a word have in common: the stem of an English word, the beginning of any other. */
export function stem(word: string): string {
  if (PLAIN.test(word)) return stemmer(word.slice(0, MAX_WORD_LETTERS))
  const folded = word.normalize('NFD').replace(/\p{M}/gu, '')
  return folded.slice(0, FOREIGN_STEM_LETTERS)
}
