import { BEYOND_ASCII } from '../words/tokenize.js'

const ASCII_TOKEN = /[a-z0-9]+|[.!?\n,;|]/g
const TOKEN = /[\p{L}\p{N}]+|[.!?。！？\n,;|、，；]/gu

/** Beyond the scripts that put spaces between words come those that do not. */
const UNSPACED = /[^\0-\u0fff]/

/** "i g n o r e" is read as "ignore", by models too. */
const MAY_SPREAD = /[ ._-][a-z][ ._-]{1,3}[a-z][ ._-]/
const SPREAD = /\b[a-z](?:[ ._-]{1,3}[a-z](?![a-z])){5,}/g

/**
 * The words of a plain text and the marks between them, in order. A mark is one character: that of a sentence's end, or
 * of a list.
 */
export function readTokens(plain: string): readonly string[] {
  const text = MAY_SPREAD.test(plain) ? plain.replace(SPREAD, (run) => run.replace(/[^a-z]/g, '')) : plain
  const whole = text.includes("'") || text.includes('’') ? withoutApostrophes(text) : text
  return whole.match(BEYOND_ASCII.test(whole) ? TOKEN : ASCII_TOKEN) ?? []
}

/** "n'utilisez" is two words, "don't" is one. */
const withoutApostrophes = (plain: string): string =>
  plain
    .replace(/\bn['’]/g, 'ne ')
    .replace(/\b(?:[cdjlmst]|qu)['’]/g, ' ')
    .replace(/['’]/g, '')

export const isSentenceEnd = (token: string): boolean => token.length === 1 && '.!?\n。！？'.includes(token)

export const isListMark = (token: string): boolean => token.length === 1 && ',;|、，；'.includes(token)

/** Whether a token is a run of words of a script without spaces, or has one in it. */
export const isUnspaced = (token: string): boolean => UNSPACED.test(token)
