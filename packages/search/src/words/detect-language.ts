import { LANGUAGES_OF_WORD } from './stop-words.js'

/** A text counts as written in a script if more than this share of its letters is. */
const MAIN_SCRIPT_SHARE = 0.3
/** Japanese is recognised by its kana even if most characters are Han. */
const KANA_SHARE = 0.1

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
