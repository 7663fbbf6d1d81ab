import { LANGUAGES_OF_WORD } from '../words/stop-words.js'
import { BEYOND_ASCII, detectLanguage } from '../words/tokenize.js'
import type { Lexicon } from './lexicon.js'
import { MAX_WORD_LETTERS, wordsOf } from './vocabulary.js'

/** Words of a text that are looked at. */
const MAX_WORDS = 24
/** Stop words of a language that settle the question. */
const ENOUGH_VOTES = 2
const LATIN = /^[\p{Script=Latin}\p{N}\p{P}\p{S}\p{Z}]*$/u

/**
 * The language that a query is written in, as a primary BCP 47 subtag, by script, stop words and the lexicon; undefined if
 * nothing is recognised. English wins a tie, because its words are part of many languages.
 */
export function recogniseLanguage(text: string, lexicon: Lexicon): string | undefined {
  const detected = detectLanguage(text)
  if (detected === 'zh') return kanjiOnly(text, lexicon) ? 'ja' : 'zh'
  if (!LATIN.test(text)) return ofOneLetter(text) ?? detected ?? ofScript(text, lexicon)
  const words = wordsOf(text)
    .filter((word) => word.length <= MAX_WORD_LETTERS)
    .slice(0, MAX_WORDS)
  const votes = new Map<string, number>()
  const vote = (languages: readonly string[], weight = 1): void => {
    for (const language of languages) votes.set(language, (votes.get(language) ?? 0) + weight / languages.length)
  }
  for (const word of words) vote(LANGUAGES_OF_WORD.get(word) ?? [])
  if ((votes.get('en') ?? 0) >= ENOUGH_VOTES && detected === 'en') return 'en'
  const content = words.filter((word) => !LANGUAGES_OF_WORD.has(word) && /\p{L}{3}/u.test(word))
  const latin = lexicon.languages.filter((language) => !NOT_LATIN.has(language))
  const unknown: string[] = []
  let open = content.reduce((sum, word) => sum + weightOf(word), 0)
  for (const word of content) {
    if (isSettled(votes, open)) return winner(votes)
    // A word that English has, too, is English: other languages use it as a loan word.
    const languages = lexicon.knowsEnglish(word) ? ['en'] : latin.filter((language) => lexicon.knows(word, language))
    vote(languages, weightOf(word))
    if (languages.length === 0) unknown.push(word)
    else open -= weightOf(word)
  }
  // English words look like forms of Romance ones ("feline"), so other forms only add to a language that has a vote.
  const known = latin.filter((language) => votes.has(language))
  for (const word of unknown) {
    if (isSettled(votes, open)) return winner(votes)
    const possible = isAccented(word) ? latin : known
    vote(
      possible.filter((language) => lexicon.knows(word, language, true)),
      weightOf(word),
    )
    open -= weightOf(word)
  }
  if (votes.size === 0)
    for (const word of unknown) vote(latin.filter((language) => isCompound(word, language, lexicon)))
  return winner(votes)
}

/** Whether a word consists of several words of the language. */
const isCompound = (word: string, language: string, lexicon: Lexicon): boolean =>
  (lexicon.gloss(word, language) ?? []).some(({ parts }) => parts.length > 1)

/** English is written without accents, so a word with one is worth more than a word that could be English. */
const ACCENTED_WEIGHT = 1.5
const isAccented = (word: string): boolean => BEYOND_ASCII.test(word)
const weightOf = (word: string): number => (isAccented(word) ? ACCENTED_WEIGHT : 1)

const NOT_LATIN: ReadonlySet<string> = new Set(['ar', 'hi', 'ja', 'ko', 'ru', 'uk', 'zh'])

function winner(votes: ReadonlyMap<string, number>): string | undefined {
  let [best, most] = ['en', votes.get('en') ?? 0]
  for (const [language, count] of votes) if (count > most) [best, most] = [language, count]
  return most === 0 ? undefined : best
}

/** Fractions of votes are rounded, so a lead smaller than this may be a tie. */
const MIN_LEAD = 0.001

/** Whether no language can catch up with the first one, even with all votes that are still open: other words need no look-up. */
function isSettled(votes: ReadonlyMap<string, number>, open: number): boolean {
  let [most, second] = [0, 0]
  for (const count of votes.values()) {
    if (count > most) [most, second] = [count, most]
    else if (count > second) second = count
  }
  return most - second > open + MIN_LEAD
}

/** Letters that only one of the languages of a script has. */
function ofOneLetter(text: string): string | undefined {
  if (/[іїєґ]/iu.test(text)) return 'uk'
  return /[ыэё]/iu.test(text) ? 'ru' : undefined
}

/** Of the languages that share a script, the one that knows more of the words; if in doubt, the most common one. */
function ofScript(text: string, lexicon: Lexicon): string | undefined {
  if (/\p{Script=Cyrillic}/u.test(text)) {
    const known = (language: string): number =>
      wordsOf(text).filter((word) => lexicon.knows(word, language, true)).length
    return known('uk') > known('ru') ? 'uk' : 'ru'
  }
  return /\p{Script=Arabic}/u.test(text) ? 'ar' : undefined
}

/** Characters of small words that Chinese sentences have and Japanese ones have not. */
const CHINESE = /[的了我你您吗呢们这哪给请帮]/u

/** A query of Chinese characters alone may be Japanese, if only the Japanese vocabulary has its words. */
function kanjiOnly(text: string, lexicon: Lexicon): boolean {
  if (CHINESE.test(text)) return false
  const known = (language: string): number =>
    (lexicon.gloss(text, language) ?? []).reduce(
      (sum, { word, parts }) => sum + (parts.length > 0 && word.length > 1 ? word.length : 0),
      0,
    )
  return known('ja') > known('zh')
}
