import { readFileSync } from 'node:fs'
import { stemmer } from 'stemmer'
import { type Gloss, glossSentence } from './gloss.js'
import { lexiconFile, listLanguages, readEntries, readHeadwords, rulesOf, vocabularyFile } from './lexicon-files.js'
import { MeaningTable } from './meaning-table.js'
import type { LexiconEntry } from './parse-lexicon.js'
import { compileVocabulary, createVocabulary, type Vocabulary, wordsOf } from './vocabulary.js'

/** What words of other languages mean in English. A language is read when it is first needed. */
export interface Lexicon {
  /** Primary BCP 47 subtags of the languages it has words of. */
  readonly languages: readonly string[]
  /** Glosses a sentence word by word, without stop words; undefined if the lexicon does not have the language. */
  gloss(sentence: string, language: string): Gloss[] | undefined
  /**
   * Whether the word, with or without accents, is in the vocabulary of a language; with `inflected`, also another form of
   * it.
   */
  knows(word: string, language: string, inflected?: boolean): boolean
  /** Whether an English word or another form of it is among the headwords. */
  knowsEnglish(word: string): boolean
}

/** Words of one language to add to the lexicon, in the format of its files. */
export interface LexiconFile {
  /** Primary BCP 47 subtag. */
  readonly language: string
  readonly path: string
}

let builtInLexicon: Lexicon | undefined

/**
 * Opens the lexicon that comes with this package. Without words to add, there is one in a process.
 *
 * @param files words to add, which come before those of the package
 * @throws {LexiconError} if a file cannot be read
 * @example
 * openLexicon().gloss('Wettervorhersage für Berlin', 'de') // weather forecast, Berlin
 */
export function openLexicon(files: readonly LexiconFile[] = []): Lexicon {
  if (files.length > 0) return createLexicon(readAdded(files))
  builtInLexicon ??= createLexicon(new Map())
  return builtInLexicon
}

function createLexicon(added: ReadonlyMap<string, readonly LexiconEntry[]>): Lexicon {
  const builtIn = listLanguages()
  const languages = [...new Set([...builtIn, ...added.keys()])]
  const vocabularies = new Map<string, Vocabulary>()
  let english: ReadonlySet<string> | undefined

  const read = (language: string): Vocabulary => {
    const words = added.get(language)
    return createVocabulary(language, [
      ...(words ? [compileVocabulary(language, words)] : []),
      ...(builtIn.includes(language)
        ? [new MeaningTable(Uint8Array.from(readFileSync(vocabularyFile(language))))]
        : []),
    ])
  }

  const vocabularyOf = (language: string): Vocabulary | undefined => {
    if (!languages.includes(language)) return undefined
    const vocabulary = vocabularies.get(language) ?? read(language)
    vocabularies.set(language, vocabulary)
    return vocabulary
  }

  return {
    languages,
    gloss(sentence, language) {
      const vocabulary = vocabularyOf(language)
      return vocabulary && glossSentence(sentence, language, rulesOf(language), vocabulary)
    },
    knows(word, language, inflected = false) {
      const vocabulary = vocabularyOf(language)
      if (!vocabulary) return false
      return (inflected ? vocabulary.find([word]) : vocabulary.findExact(word)).length > 0
    },
    knowsEnglish(word) {
      english ??= readEnglish(added)
      return english.has(stemmer(word))
    },
  }
}

/** Compiles the words of a language that come with this package, as the build does. */
export const compileLanguage = (language: string): Uint8Array =>
  compileVocabulary(language, readEntries(lexiconFile(language))).bytes

function readAdded(files: readonly LexiconFile[]): Map<string, LexiconEntry[]> {
  const added = new Map<string, LexiconEntry[]>()
  for (const { language, path } of files) added.set(language, [...(added.get(language) ?? []), ...readEntries(path)])
  return added
}

/** The stems of all English words that the lexicon translates. */
function readEnglish(added: ReadonlyMap<string, readonly LexiconEntry[]>): ReadonlySet<string> {
  const others = [...added.values()].flatMap((entries) => entries.map(({ english }) => english))
  return new Set([...readHeadwords(), ...others].flatMap((term) => wordsOf(term).map((word) => stemmer(word))))
}
