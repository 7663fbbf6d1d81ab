import { BEYOND_ASCII } from '../words/tokenize.js'

/** Combining marks and invisible characters. */
const DROPPED = /[\p{M}\p{Cf}\u115f\u1160\u3164\uffa0]+/gu
/** Arabic ligatures for whole sentences: NFKD expands each to eighteen characters. */
const LONG_LIGATURE = /[\ufdfa\ufdfb]/g
const CONFUSABLE_SCRIPTS =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\u0250-\u02af\u1d00-\u1d7f\ua730-\ua7ff]/u
const WORD = /[\p{L}\p{N}]+/gu
const HAS_LATIN = /[a-z]/i

/**
 * Normalises a text so that texts which look the same are the same: lower case, no accents, no invisible characters,
 * and confusable letters inside Latin words replaced.
 */
export function plainText(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase()
  const plain = text.replace(LONG_LIGATURE, ' ').normalize('NFKD').replace(DROPPED, '').normalize('NFC')
  const mayMixScripts = CONFUSABLE_SCRIPTS.test(plain) && HAS_LATIN.test(plain)
  return (mayMixScripts ? plain.replace(WORD, toLatin) : plain).toLowerCase()
}

/** A word with some Latin letters is meant to be read as Latin. */
const toLatin = (word: string): string =>
  HAS_LATIN.test(word) && CONFUSABLE_SCRIPTS.test(word)
    ? [...word].map((letter) => latinConfusable(letter) ?? letter).join('')
    : word

// Confusable letters (UTS #39), each followed by the Latin letter that it looks like.
const CYRILLIC = 'аaвbсcԁdеeһhіiјjкkӏlмmнhоoрpԛqѕsтtуyхxԝwгrпnАAВBСCЕEНHІIЈJКKМMОOРPЅSТTХXУYҮYԜW'
const GREEK = 'αaεeιiκkνvοoρpτtυuχxγyωwηnΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX'
const ARMENIAN = 'օoսuոnհhցgԱUՕOՏSԼL'
const OTHER_LATIN = 'ɑaɡgıiɩiʟlʀrꜱsᴀaᴄcᴅdᴇeɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpᴛtᴜuᴠvᴡwʏyᴢzƖl'

const LATIN_OF: ReadonlyMap<string, string> = new Map(
  [CYRILLIC, GREEK, ARMENIAN, OTHER_LATIN].flatMap((pairs) => {
    const letters = [...pairs]
    return letters.flatMap((letter, i): [string, string][] => (i % 2 === 0 ? [[letter, letters[i + 1] ?? letter]] : []))
  }),
)

/** The Latin letter that a letter of another script looks like, if any. */
export const latinConfusable = (letter: string): string | undefined => LATIN_OF.get(letter)

const ASCII_TOKEN = /[a-z0-9]+|[.!?\n,;|]/g
const TOKEN = /[\p{L}\p{N}]+|[.!?。！？\n,;|、，；]/gu

/** Scripts that separate words by spaces are below U+1000. */
const UNSPACED = /[^\0-\u0fff]/

/** Spaced-out letters: models read "i g n o r e" as "ignore". */
const MAY_BE_SPACED_OUT = /[ ._-][a-z][ ._-]{1,3}[a-z][ ._-]/
const SPACED_OUT = /\b[a-z](?:[ ._-]{1,3}[a-z](?![a-z])){5,}/g

/**
 * The words of a text from `plainText` in order, with the punctuation between them that ends a sentence or separates
 * the items of a list, one character each.
 */
export function readTokens(plain: string): readonly string[] {
  const text = MAY_BE_SPACED_OUT.test(plain) ? plain.replace(SPACED_OUT, (run) => run.replace(/[^a-z]/g, '')) : plain
  const whole = text.includes("'") || text.includes('’') ? withoutApostrophes(text) : text
  return whole.match(BEYOND_ASCII.test(whole) ? TOKEN : ASCII_TOKEN) ?? []
}

/** Splits French elisions ("n'utilisez" becomes two words) and joins contractions ("don't" becomes "dont"). */
const withoutApostrophes = (plain: string): string =>
  plain
    .replace(/\bn['’]/g, 'ne ')
    .replace(/\b(?:[cdjlmst]|qu)['’]/g, ' ')
    .replace(/['’]/g, '')

export const isSentenceEnd = (token: string): boolean => token.length === 1 && '.!?\n。！？'.includes(token)

export const isListSeparator = (token: string): boolean => token.length === 1 && ',;|、，；'.includes(token)

/** Whether a token contains a run of a script without spaces between words. */
export const isUnspaced = (token: string): boolean => UNSPACED.test(token)
