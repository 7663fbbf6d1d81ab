import { isStopWord } from '../words/stop-words.js'
import { chunksOf, chunkTokens, type Token, UNSPACED } from '../words/tokenize.js'
import { partsOfCompound } from './compounds.js'
import type { LanguageRules } from './languages.js'
import { segment } from './segment.js'
import type { Vocabulary } from './vocabulary.js'

/** A word or term of a text, and what it means in English. */
export interface Gloss {
  /** As written. */
  readonly word: string
  /** Its terms as the word index has them. */
  readonly tokens: readonly Token[]
  /**
   * What it means: English words or terms, the most usual first, for each part of a compound; for other words there is
   * one part. Empty: unknown.
   */
  readonly parts: readonly (readonly string[])[]
}

/** Words of the longest term. */
const MAX_TERM_WORDS = 4

/** Glosses a sentence in a language word by word; stop words are left out. */
export function glossSentence(text: string, language: string, rules: LanguageRules, vocabulary: Vocabulary): Gloss[] {
  const clauses = text.normalize('NFKC').split(/[,;:()、，；：（）]+/)
  let isStart = true
  return clauses.flatMap((clause) => {
    const chunks = chunksOf(clause)
    const glosses = rules.isUnspaced
      ? chunks.flatMap((chunk) => glossUnspaced(chunk, language, vocabulary))
      : glossClause(chunks, isStart, language, rules, vocabulary)
    if (chunks.length > 0) isStart = false
    return glosses
  })
}

function glossClause(
  chunks: readonly string[],
  isStart: boolean,
  language: string,
  rules: LanguageRules,
  vocabulary: Vocabulary,
): Gloss[] {
  const verb = separableVerb(chunks, rules, vocabulary)
  const words = chunks
    .map((chunk, position) => ({
      chunk,
      word: position === verb?.position ? verb.word : chunk.toLowerCase(),
      // A capital letter in the middle of a sentence marks a name, except in German.
      isName: (position > 0 || !isStart) && language !== 'de' && /^\p{Lu}/u.test(chunk),
    }))
    .slice(0, verb ? -1 : undefined)
    .filter(({ word }, position) => position === verb?.position || !isStopWord(word, language))
  const plain = words.map(({ word }) => word)
  const glosses: Gloss[] = []
  for (let at = 0; at < words.length; ) {
    const first = words[at]
    if (!first) break
    const { length, english } = longestTerm(plain, at, vocabulary)
    const written = words.slice(at, at + length).map(({ chunk }) => chunk)
    glosses.push({
      word: written.join(' '),
      tokens: written.flatMap((chunk) => chunkTokens(chunk, { language })),
      parts: length > 1 ? [english] : partsOf(first.word, first.isName, rules, vocabulary),
    })
    at += length
  }
  return glosses
}

/** "fasse … zusammen": the verb with its prefix, and where it stands, if the clause ends with the prefix. */
function separableVerb(
  chunks: readonly string[],
  { particles = [] }: LanguageRules,
  vocabulary: Vocabulary,
): { position: number; word: string } | undefined {
  const particle = chunks.at(-1)?.toLowerCase() ?? ''
  if (chunks.length < 2 || !particles.includes(particle)) return undefined
  for (let position = 0; position < Math.min(chunks.length - 1, 3); position++) {
    const word = particle + (chunks[position] ?? '').toLowerCase()
    if (vocabulary.find([word]).length > 0) return { position, word }
  }
  return undefined
}

/** The longest term of several words that starts at a position; length 1 if there is none. */
function longestTerm(
  words: readonly string[],
  at: number,
  vocabulary: Vocabulary,
): { length: number; english: readonly string[] } {
  if (vocabulary.begins(words[at] ?? '')) {
    for (let length = Math.min(MAX_TERM_WORDS, words.length - at); length > 1; length--) {
      const english = vocabulary.find(words.slice(at, at + length))
      if (english.length > 0) return { length, english }
    }
  }
  return { length: 1, english: [] }
}

function partsOf(
  word: string,
  isName: boolean,
  { links, minPrefixLetters }: LanguageRules,
  vocabulary: Vocabulary,
): readonly (readonly string[])[] {
  const english = isName ? vocabulary.findExact(word) : vocabulary.find([word])
  if (english.length > 0) return [english]
  if (isName) return []
  if (links) return partsOfCompound(word, links, vocabulary)
  return minPrefixLetters === undefined ? [] : knownBeginning(word, minPrefixLetters, vocabulary)
}

/** A word with several endings is known by the longest word that it begins with; what follows may be a word as well. */
function knownBeginning(word: string, minLetters: number, vocabulary: Vocabulary): readonly (readonly string[])[] {
  for (let length = word.length - 1; length >= minLetters; length--) {
    const english = vocabulary.findExact(word.slice(0, length))
    if (english.length === 0) continue
    const rest = word.length - length < minLetters ? [] : vocabulary.find([word.slice(length)])
    return rest.length > 0 ? [english, rest] : [english]
  }
  return []
}

/** A chunk of text without spaces between its words; it may contain words in Latin letters. */
function glossUnspaced(chunk: string, language: string, vocabulary: Vocabulary): Gloss[] {
  const glosses: Gloss[] = []
  let from = 0
  const addSpaced = (to: number): void => {
    const word = chunk.slice(from, to)
    if (word === '' || isStopWord(word.toLowerCase(), language)) return
    const english = vocabulary.find([word.toLowerCase()])
    glosses.push({ word, tokens: chunkTokens(word, { language }), parts: english.length > 0 ? [english] : [] })
  }
  for (const { 0: run, index } of chunk.matchAll(UNSPACED)) {
    addSpaced(index)
    from = index + run.length
    glosses.push(...glossRun([...run], language, vocabulary))
  }
  addSpaced(chunk.length)
  return glosses
}

/** Each pair of characters belongs to the word in which it ends. */
function glossRun(characters: readonly string[], language: string, vocabulary: Vocabulary): Gloss[] {
  return segment(characters, language, vocabulary).flatMap(({ from, to, english, isStop }) => {
    if (isStop) return []
    const tokens: Token[] = []
    const [first = ''] = characters
    // A word of one character at the start ends no pair.
    if (characters.length === 1 || (to === 1 && english.length > 0)) tokens.push({ term: first, word: first })
    for (let at = Math.max(from, 1); at < to; at++) {
      const pair = `${characters[at - 1]}${characters[at]}`
      tokens.push({ term: pair, word: pair })
    }
    return [{ word: characters.slice(from, to).join(''), tokens, parts: english.length > 0 ? [english] : [] }]
  })
}
