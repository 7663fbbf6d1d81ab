import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stemmer } from 'stemmer'
import { type Gloss, glossSentence } from './gloss.js'
import { LANGUAGES, type LanguageRules } from './languages.js'
import { type LexiconEntry, LexiconError, parseLexicon } from './parse-lexicon.js'
import { createVocabulary, type GrowingVocabulary, Headwords, wordsOf } from './vocabulary.js'

/** What words of other languages mean in English. A language is read when it is first needed. */
export interface Lexicon {
  /** Primary BCP 47 subtags of the languages it has words of. */
  readonly languages: readonly string[]
  /** Memory of the vocabularies that have been read. */
  readonly bytes: number
  /** Glosses a sentence word by word, without stop words; undefined if the lexicon does not have the language. */
  gloss(sentence: string, language: string): Gloss[] | undefined
  /**
   * Whether the word, with or without accents, is in the vocabulary of a language; with `inflected`, also another form of
   * it. While `load` is at work, languages that it has not read yet know nothing.
   */
  knows(word: string, language: string, inflected?: boolean): boolean
  /** Whether an English word or another form of it is among the headwords. */
  knowsEnglish(word: string): boolean
  /**
   * Reads all languages in small steps, so that no query has to wait for one. Further calls wait for the first.
   */
  load(): Promise<void>
}

/** Words of one language to add to the lexicon, in the format of its files. */
export interface LexiconFile {
  /** Primary BCP 47 subtag. */
  readonly language: string
  readonly path: string
}

const FOLDER = fileURLToPath(new URL('../../lexicon/', import.meta.url))
/** English words of the lexicon, for those who translate them. */
const HEADWORDS = 'headwords'
/** Traditional Chinese characters and their Simplified forms. */
const TRADITIONAL = 'traditional'
/** Words added before others get their turn. */
const STEP = 400

/**
 * Opens the lexicon that comes with this package.
 *
 * @param files words to add, which come before those of the package; throws LexiconError if one cannot be read
 * @example
 * openLexicon().gloss('Wettervorhersage für Berlin', 'de') // weather forecast, Berlin
 */
export function openLexicon(files: readonly LexiconFile[] = []): Lexicon {
  const added = readAdded(files)
  const builtIn = readdirSync(FOLDER)
    .flatMap((name) => /^(\w+)\.tsv$/.exec(name)?.[1] ?? [])
    .filter((name) => name !== HEADWORDS && name !== TRADITIONAL)
  const languages = [...new Set([...builtIn, ...added.keys()])]
  const headwords = new Headwords()
  const vocabularies = new Map<string, GrowingVocabulary>()
  /** Languages that are still to be read by `load`. */
  const awaited = new Set<string>()
  let english: ReadonlySet<string> | undefined
  let loading: Promise<void> | undefined

  const open = (language: string): GrowingVocabulary => {
    const known = vocabularies.get(language)
    if (known) return known
    const own = builtIn.includes(language) ? readEntries(`${FOLDER}${language}.tsv`) : []
    const entries = [...(added.get(language) ?? []), ...own]
    const vocabulary = createVocabulary(language, rulesOf(language), entries, headwords)
    vocabularies.set(language, vocabulary)
    return vocabulary
  }

  const vocabularyOf = (language: string): GrowingVocabulary | undefined => {
    if (!languages.includes(language)) return undefined
    const vocabulary = open(language)
    vocabulary.grow(Number.POSITIVE_INFINITY)
    awaited.delete(language)
    return vocabulary
  }

  const loadAll = async (): Promise<void> => {
    for (const language of languages) if (!vocabularies.has(language)) awaited.add(language)
    for (const language of [...awaited]) {
      await nextTurn()
      const vocabulary = open(language)
      while (vocabulary.grow(STEP) > 0) await nextTurn()
      awaited.delete(language)
    }
  }

  return {
    languages,
    get bytes() {
      return [...vocabularies.values()].reduce((sum, { bytes }) => sum + bytes, 0)
    },
    gloss(sentence, language) {
      const vocabulary = vocabularyOf(language)
      return vocabulary && glossSentence(sentence, language, rulesOf(language), vocabulary)
    },
    knows(word, language, inflected = false) {
      const vocabulary = awaited.has(language) ? undefined : vocabularyOf(language)
      if (!vocabulary) return false
      return (inflected ? vocabulary.find([word]) : vocabulary.findExact(word)).length > 0
    },
    knowsEnglish(word) {
      english ??= readEnglish(added)
      return english.has(stemmer(word))
    },
    load() {
      loading ??= loadAll()
      return loading
    },
  }
}

let builtInLexicon: Lexicon | undefined

/** The lexicon of this package alone; there is one in a process. */
export function getBuiltInLexicon(): Lexicon {
  builtInLexicon ??= openLexicon()
  return builtInLexicon
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function readEntries(path: string): LexiconEntry[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new LexiconError(`the lexicon ${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
  return parseLexicon(text, path)
}

function readAdded(files: readonly LexiconFile[]): Map<string, LexiconEntry[]> {
  const added = new Map<string, LexiconEntry[]>()
  for (const { language, path } of files) added.set(language, [...(added.get(language) ?? []), ...readEntries(path)])
  return added
}

/** The stems of all English words that the lexicon translates. */
function readEnglish(added: ReadonlyMap<string, readonly LexiconEntry[]>): ReadonlySet<string> {
  const lines = readFileSync(`${FOLDER}${HEADWORDS}.tsv`, 'utf8').split('\n')
  const own = lines.map((line) => line.slice(0, line.indexOf('\t')))
  const others = [...added.values()].flatMap((entries) => entries.map(({ english }) => english))
  return new Set([...own, ...others].flatMap((term) => wordsOf(term).map((word) => stemmer(word))))
}

/** A language without rules of its own is matched as written, with or without accents. */
const rulesOf = (language: string): LanguageRules =>
  language === 'zh' ? { ...LANGUAGES.zh, fold: simplify } : (LANGUAGES[language] ?? {})

let simplified: ReadonlyMap<string, string> | undefined

/** Traditional Chinese as Simplified Chinese, character by character. */
function simplify(text: string): string {
  simplified ??= new Map(
    readEntries(`${FOLDER}${TRADITIONAL}.tsv`).map(({ english: traditional, words }) => [traditional, words[0] ?? '']),
  )
  let result = ''
  for (const character of text) result += simplified.get(character) ?? character
  return result
}
