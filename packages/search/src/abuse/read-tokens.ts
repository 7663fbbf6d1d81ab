import { BEYOND_ASCII } from '../words/tokenize.js'

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
