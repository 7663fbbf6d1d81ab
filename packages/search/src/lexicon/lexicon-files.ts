import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { LANGUAGES, type LanguageRules } from './languages.js'
import { type LexiconEntry, LexiconError, parseLexicon } from './parse-lexicon.js'

const FOLDER = fileURLToPath(new URL('../../lexicon/', import.meta.url))
/** English words of the lexicon, for those who translate them. */
const HEADWORDS = 'headwords'
/** Traditional Chinese characters and their Simplified forms. */
const TRADITIONAL = 'traditional'

/** The file with the words of a language that comes with this package. */
export const lexiconFile = (language: string): string => `${FOLDER}${language}.tsv`

/** What the build compiles that file to. */
export const vocabularyFile = (language: string): string =>
  fileURLToPath(new URL(`../../dist/vocabularies/${language}.bin`, import.meta.url))

/** Primary BCP 47 subtags of the languages that come with this package. */
export const listLanguages = (): string[] =>
  readdirSync(FOLDER)
    .flatMap((name) => /^(\w+)\.tsv$/.exec(name)?.[1] ?? [])
    .filter((name) => name !== HEADWORDS && name !== TRADITIONAL)

/** The English words and terms that the lexicon translates. */
export const readHeadwords = (): string[] =>
  readFileSync(lexiconFile(HEADWORDS), 'utf8')
    .split('\n')
    .map((line) => line.slice(0, line.indexOf('\t')))

/** @throws {LexiconError} if the file cannot be read */
export function readEntries(path: string): LexiconEntry[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new LexiconError(`the lexicon ${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
  return parseLexicon(text, path)
}

/** A language without rules of its own is matched as written, with or without accents. */
export const rulesOf = (language: string): LanguageRules =>
  language === 'zh' ? { ...LANGUAGES.zh, fold: simplify } : (LANGUAGES[language] ?? {})

let simplified: ReadonlyMap<string, string> | undefined

/** Traditional Chinese as Simplified Chinese, character by character. */
function simplify(text: string): string {
  simplified ??= new Map(
    readEntries(lexiconFile(TRADITIONAL)).map(({ english: traditional, words }) => [traditional, words[0] ?? '']),
  )
  let result = ''
  for (const character of text) result += simplified.get(character) ?? character
  return result
}
