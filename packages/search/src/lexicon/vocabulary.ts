import { isStopWord } from '../words/stop-words.js'
import { type LanguageRules, withoutAccents } from './languages.js'
import { MeaningTable } from './meaning-table.js'
import type { LexiconEntry } from './parse-lexicon.js'

/** Marks of the keys that are not words as written: without accents, stems, beginnings of longer terms. */
const FOLDED = '^'
const STEM = '~'
const BEGINNING = '>'
/** Characters by which the beginning of a word is recognised in a language without spaces. */
const BEGINNING_CHARACTERS = 2
/** Stems that are remembered, because texts repeat their words. */
const CACHED_STEMS = 4096

/** The words of one language and what they mean in English. Terms are given as their words, in lower case. */
export interface Vocabulary {
  readonly bytes: number
  /** English words or terms that a term means, the most usual first; empty if it is unknown. */
  find(words: readonly string[]): readonly string[]
  /** Like `find`, but only as written, with or without accents: for names. */
  findExact(word: string): readonly string[]
  /** Whether a longer term may begin with the word, or with these characters. */
  begins(word: string): boolean
  /** As words are written in this vocabulary: Traditional Chinese becomes Simplified Chinese. */
  fold(text: string): string
}

/** A vocabulary that is filled a few words at a time: a whole language takes a tenth of a second. */
export interface GrowingVocabulary extends Vocabulary {
  /** Adds up to `limit` words; returns how many are left. */
  grow(limit: number): number
}

/** English words and terms; vocabularies refer to them by number. */
export class Headwords {
  readonly #words: string[] = []
  readonly #numbers = new Map<string, number>()

  numberOf(word: string): number {
    const known = this.#numbers.get(word)
    if (known !== undefined) return known
    this.#numbers.set(word, this.#words.length)
    return this.#words.push(word) - 1
  }

  wordOf(number: number): string {
    return this.#words[number] ?? ''
  }
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
 * @param headwords shared by all vocabularies
 */
export function createVocabulary(
  language: string,
  rules: LanguageRules,
  entries: readonly LexiconEntry[],
  headwords: Headwords,
): GrowingVocabulary {
  const table = new MeaningTable()
  const { stem = (word) => word, fold = withoutAccents, forms, isUnspaced = false } = rules
  const pending = inOrderOfUse(entries, headwords)
  const stems = new Map<string, string>()

  const stemOf = (word: string): string => {
    if (word.length > MAX_WORD_LETTERS) return word
    const known = stems.get(word)
    if (known !== undefined) return known
    if (stems.size >= CACHED_STEMS) stems.clear()
    const result = fold(stem(word))
    stems.set(word, result)
    return result
  }
  /** A stemmer may need the accents, or they may be missing. */
  const stemsOf = (words: readonly string[], stemmed = stemOf): string[] => {
    const written = words.map(stemmed).join(' ')
    if (words.every((word) => fold(word) === word)) return [written]
    const folded = words.map((word) => stemmed(fold(word))).join(' ')
    return folded === written ? [written] : [written, folded]
  }
  const uncached = (word: string): string => fold(stem(word))

  const addUnspaced = (term: string, meaning: number): void => {
    const folded = fold(term)
    table.add(folded, meaning)
    const characters = [...folded]
    if (characters.length > BEGINNING_CHARACTERS)
      table.add(BEGINNING + characters.slice(0, BEGINNING_CHARACTERS).join(''), meaning)
    const stemmed = stem(folded)
    if (stemmed !== folded) table.add(STEM + stemmed, meaning)
  }

  const add = ({ word, meaning }: Translation): void => {
    const words = contentWords(wordsOf(word), language)
    if (words.length === 0) return
    if (isUnspaced) {
      addUnspaced(words.join(''), meaning)
      return
    }
    const term = words.join(' ')
    table.add(term, meaning)
    const folded = fold(term)
    if (folded !== term) table.add(FOLDED + folded, meaning)
    for (const each of stemsOf(words, uncached)) table.add(STEM + each, meaning)
    if (words.length > 1) for (const each of stemsOf(words.slice(0, 1), uncached)) table.add(BEGINNING + each, meaning)
  }

  const findWritten = (term: string): number[] => {
    const found = table.find(term)
    if (found.length > 0) return found
    const folded = fold(term)
    const accented = table.find(FOLDED + folded)
    return accented.length > 0 || folded === term ? accented : table.find(folded)
  }

  const findStems = (words: readonly string[]): number[] => {
    for (const each of stemsOf(words)) {
      const found = table.find(STEM + each)
      if (found.length > 0) return found
    }
    return []
  }

  const findWord = (word: string): number[] => {
    const others = forms?.(word) ?? []
    for (const find of [findWritten, (each: string) => findStems([each])]) {
      for (const each of [word, ...others]) {
        const found = find(each)
        if (found.length > 0) return found
      }
    }
    return []
  }

  const findUnspaced = (word: string): number[] => {
    const found = table.find(word)
    const stemmed = found.length > 0 ? word : stem(word)
    return stemmed === word ? found : table.find(STEM + stemmed)
  }

  const findTerm = (words: readonly string[]): number[] => {
    const [word, ...others] = words
    if (words.some((each) => each.length > MAX_WORD_LETTERS)) return []
    if (word !== undefined && others.length === 0) return isUnspaced ? findUnspaced(word) : findWord(word)
    const found = findWritten(words.join(' '))
    return found.length > 0 ? found : findStems(words)
  }

  const english = (meanings: readonly number[]): string[] => meanings.map((meaning) => headwords.wordOf(meaning))

  return {
    get bytes() {
      return table.bytes
    },
    find: (words) => english(findTerm(words)),
    findExact: (word) => english(findWritten(word)),
    begins: (word) => (isUnspaced ? [word] : stemsOf([word])).some((each) => table.has(BEGINNING + each)),
    fold: (text) => fold(text),
    grow(limit) {
      for (const translation of pending.splice(-limit, limit).reverse()) add(translation)
      return pending.length
    },
  }
}

/** A term without the small words in it, so that "base de datos" and "base datos" are the same. */
export function contentWords(words: readonly string[], language: string): readonly string[] {
  if (words.length < 2) return words
  const content = words.filter((word) => !isStopWord(word, language))
  return content.length > 1 ? content : words
}

interface Translation {
  readonly word: string
  /** Number of the headword. */
  readonly meaning: number
}

/** A headword that has a word as its first translation is the more usual meaning of it. The next one to add comes last. */
function inOrderOfUse(entries: readonly LexiconEntry[], headwords: Headwords): Translation[] {
  const byPosition: Translation[][] = []
  for (const { english, words } of entries) {
    const meaning = headwords.numberOf(english)
    for (const [position, word] of words.entries()) {
      const list = byPosition[position] ?? []
      byPosition[position] = list
      list.push({ word, meaning })
    }
  }
  return byPosition.flat().reverse()
}
