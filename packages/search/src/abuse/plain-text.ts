import { BEYOND_ASCII } from '../words/tokenize.js'
import { latinLookalike } from './lookalikes.js'

/** Marks, and what is not drawn: with them, a word would not be met by the word it looks like. */
const DROPPED = /[\p{M}\p{Cf}\u115f\u1160\u3164\uffa0]+/gu
/** Whole sentences in one character: a text of them would grow eighteenfold. */
const LONG_LIGATURE = /[\ufdfa\ufdfb]/g
const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\u0250-\u02af\u1d00-\u1d7f\ua730-\ua7ff]/u
const WORD = /[\p{L}\p{N}]+/gu
const HAS_LATIN = /[a-z]/i

/**
 * A text in one form of each letter: lower case, no accents, nothing hidden, lookalikes inside Latin words replaced.
 * Two texts that a person or a model reads the same are the same here.
 */
export function plainText(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase()
  const plain = text.replace(LONG_LIGATURE, ' ').normalize('NFKD').replace(DROPPED, '').normalize('NFC')
  return (FOREIGN.test(plain) && HAS_LATIN.test(plain) ? plain.replace(WORD, inLatin) : plain).toLowerCase()
}

/** A word that is Latin in part is meant to be read as Latin. */
const inLatin = (word: string): string =>
  HAS_LATIN.test(word) && FOREIGN.test(word)
    ? [...word].map((letter) => latinLookalike(letter) ?? letter).join('')
    : word
