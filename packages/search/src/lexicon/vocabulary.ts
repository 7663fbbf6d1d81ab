import { isStopWord } from '../words/stop-words.js'
import { withoutAccents } from './languages.js'
import { rulesOf } from './lexicon-files.js'
import { MAX_KEPT_MEANINGS, MeaningTable } from './meaning-table.js'
import type { LexiconEntry } from './parse-lexicon.js'

/** Marks of the keys that are not words as written: without accents, stems, beginnings of longer terms. */
const FOLDED = '^'
const STEM = '~'
const BEGINNING = '>'
/** Characters by which the beginning of a word is recognised in a language without spaces. */
const BEGINNING_CHARACTERS = 2
/** Stems, and meanings of words, that are remembered: a query is read several times, and texts repeat their words. */
const CACHED_WORDS = 4096

/** The words of one language and what they mean in English. Terms are given as their words, in lower case. */
export interface Vocabulary {
  /** English words or terms that a term means, the most usual first; empty if it is unknown. */
  find(words: readonly string[]): readonly string[]
  /** Like `find`, but only as written, with or without accents: for names. */
  findExact(word: string): readonly string[]
  /** Whether a longer term may begin with the word, or with these characters. */
  begins(word: string): boolean
  /** As words are written in this vocabulary: Traditional Chinese becomes Simplified Chinese. */
  fold(text: string): string
}

/** The words of a text in lower case. */
export const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []

/** Longer words are in no lexicon, and stemming them takes long. */
export const MAX_WORD_LETTERS = 60

/**
 * @param language primary BCP 47 subtag
 * @param tables from `compileVocabulary`; the meanings in the first come first
 */
export function createVocabulary(language: string, tables: readonly MeaningTable[]): Vocabulary {
  const { stem = asWritten, fold = withoutAccents, forms, isUnspaced = false } = rulesOf(language)
  const cachedStem = cached((word) => fold(stem(word)))
  const stemOf = (word: string): string => (word.length > MAX_WORD_LETTERS ? word : cachedStem(word))
  const stemsOf = (words: readonly string[]): string[] => stemsWith(words, fold, stemOf)

  const [first] = tables
  const lookUp = (key: string): readonly string[] =>
    first && tables.length === 1
      ? first.find(key)
      : [...new Set(tables.flatMap((table) => table.find(key)))].slice(0, MAX_KEPT_MEANINGS)

  const findWritten = (term: string): readonly string[] => {
    const found = lookUp(term)
    if (found.length > 0) return found
    const folded = fold(term)
    const accented = lookUp(FOLDED + folded)
    return accented.length > 0 || folded === term ? accented : lookUp(folded)
  }

  const findStems = (words: readonly string[]): readonly string[] => {
    for (const each of stemsOf(words)) {
      const found = lookUp(STEM + each)
      if (found.length > 0) return found
    }
    return []
  }

  const findWord = cached((word): readonly string[] => {
    const others = forms?.(word) ?? []
    for (const find of [findWritten, (each: string) => findStems([each])]) {
      for (const each of [word, ...others]) {
        const found = find(each)
        if (found.length > 0) return found
      }
    }
    return []
  })

  const findUnspaced = (word: string): readonly string[] => {
    const found = lookUp(word)
    const stemmed = found.length > 0 ? word : stem(word)
    return stemmed === word ? found : lookUp(STEM + stemmed)
  }

  const findTerm = (words: readonly string[]): readonly string[] => {
    const [word, ...others] = words
    if (words.some((each) => each.length > MAX_WORD_LETTERS)) return []
    if (word !== undefined && others.length === 0) return isUnspaced ? findUnspaced(word) : findWord(word)
    const found = findWritten(words.join(' '))
    return found.length > 0 ? found : findStems(words)
  }

  return {
    find: findTerm,
    findExact: findWritten,
    begins: (word) =>
      (isUnspaced ? [word] : stemsOf([word])).some((each) => tables.some((table) => table.has(BEGINNING + each))),
    fold,
  }
}

/** Under which keys the words of a language and what they mean are found. */
export function compileVocabulary(language: string, entries: readonly LexiconEntry[]): MeaningTable {
  const { stem = asWritten, fold = withoutAccents, isUnspaced = false } = rulesOf(language)
  const stemOf = (word: string): string => fold(stem(word))

  function* keysOfUnspaced(term: string): Generator<string> {
    const folded = fold(term)
    yield folded
    const characters = [...folded]
    if (characters.length > BEGINNING_CHARACTERS) yield BEGINNING + characters.slice(0, BEGINNING_CHARACTERS).join('')
    const stemmed = stem(folded)
    if (stemmed !== folded) yield STEM + stemmed
  }

  function* keysOf(words: readonly string[]): Generator<string> {
    const term = words.join(' ')
    yield term
    const folded = fold(term)
    if (folded !== term) yield FOLDED + folded
    for (const each of stemsWith(words, fold, stemOf)) yield STEM + each
    if (words.length > 1) for (const each of stemsWith(words.slice(0, 1), fold, stemOf)) yield BEGINNING + each
  }

  function* translations(): Generator<[key: string, english: string]> {
    for (const { word, english } of inOrderOfUse(entries)) {
      const words = contentWords(wordsOf(word), language)
      if (words.length === 0) continue
      for (const key of isUnspaced ? keysOfUnspaced(words.join('')) : keysOf(words)) yield [key, english]
    }
  }
  return MeaningTable.of(translations())
}

const asWritten = (word: string): string => word

/** Remembers what a function returns for words, up to a limit. */
function cached<T>(read: (word: string) => T): (word: string) => T {
  const known = new Map<string, T>()
  return (word) => {
    const before = known.get(word)
    if (before !== undefined) return before
    if (known.size >= CACHED_WORDS) known.clear()
    const result = read(word)
    known.set(word, result)
    return result
  }
}

/** The stems of a term. A stemmer may need the accents, or they may be missing. */
function stemsWith(
  words: readonly string[],
  fold: (word: string) => string,
  stemOf: (word: string) => string,
): string[] {
  const written = words.map(stemOf).join(' ')
  if (words.every((word) => fold(word) === word)) return [written]
  const folded = words.map((word) => stemOf(fold(word))).join(' ')
  return folded === written ? [written] : [written, folded]
}

/** A term without the small words in it, so that "base de datos" and "base datos" are the same. */
export function contentWords(words: readonly string[], language: string): readonly string[] {
  if (words.length < 2) return words
  const content = words.filter((word) => !isStopWord(word, language))
  return content.length > 1 ? content : words
}

interface Translation {
  readonly word: string
  readonly english: string
}

/** A headword that has a word as its first translation is the more usual meaning of it. */
function inOrderOfUse(entries: readonly LexiconEntry[]): Translation[] {
  const byPosition: Translation[][] = []
  for (const { english, words } of entries) {
    for (const [position, word] of words.entries()) {
      const list = byPosition[position] ?? []
      byPosition[position] = list
      list.push({ word, english })
    }
  }
  return byPosition.flat()
}
