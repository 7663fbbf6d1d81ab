import { givesNewSelf, isToModels, wantsSecretFile } from './instruction-phrases.js'
import { ABOUT, metRule, type Part } from './instruction-rules.js'
import { bitOf, classesOf, wordAt } from './instruction-words.js'
import { plainText } from './plain-text.js'
import { isListMark, isSentenceEnd, isUnspaced } from './read-tokens.js'

const [SELF, THIS, NOUN] = [bitOf('self'), bitOf('this'), bitOf('noun')]

/** From so many letters on a word may be several, written together to get past a list of words. */
const GLUED = 16
const MOST_GLUED = 400
/** Letters of a word that is looked for inside a glued one: shorter ones are met by chance. */
const MIN_GLUED_PART = 5

/** Further on by so many words: what belongs to one order seldom stands in two sentences. */
const SENTENCE_GAP = 4
/** Letters of an unspaced script that count as one word, when distances are measured. */
const LETTERS_A_WORD = 2

/**
 * What a text orders whichever model reads it to do, in the words of a warning; undefined if it orders nothing.
 *
 * @param plain the text (`plainText`), and its tokens (`readTokens`)
 * @param name the words of the agent's name (`ownName`), which stand for "this agent"
 */
export function findInstruction(
  plain: string,
  tokens: readonly string[],
  name: readonly string[] = [],
): string | undefined {
  if (givesNewSelf(plain)) return ABOUT.persona
  if (wantsSecretFile(plain)) return ABOUT.leak
  if (isToModels(plain)) return 'it is addressed to models'
  return metRule(readParts(tokens, name))
}

/** The words of the agent's name, if they say more than what it is. */
export function ownName(name: string): readonly string[] {
  const words = plainText(name).match(/[\p{L}\p{N}]+/gu) ?? []
  return words.some((word) => word.length > 2 && classesOf(word) === 0) ? words : []
}

function readParts(tokens: readonly string[], name: readonly string[]): Part[] {
  const parts: Part[] = []
  let at = 0
  let afterThis = Number.NEGATIVE_INFINITY
  let named = 0
  const add = (bits: number, where: number): void => {
    if (bits & THIS) afterThis = where
    // "this agent", "our translation service"
    parts.push({ at: where, bits: bits & NOUN && where - afterThis <= SELF_DISTANCE ? bits | SELF : bits })
  }
  for (const token of tokens) {
    if (token.length === 1 && isListMark(token)) continue
    if (token.length === 1 && isSentenceEnd(token)) {
      at += SENTENCE_GAP
      continue
    }
    const bits = classesOf(token)
    if (bits !== 0) add(bits, at)
    else if (!COMMON.test(token)) at += readUncommon(token, at, add)
    named = token === name[named] ? named + 1 : 0
    if (named > 0 && named === name.length) {
      add(SELF, at)
      named = 0
    }
    at++
  }
  return parts
}

/** Most words: none that may be several, and none in disguise. */
const COMMON = /^[a-z]{1,15}$/

/** Reads a token that is not a word of the lexicon but may contain some; returns how many words longer it is than one. */
function readUncommon(token: string, at: number, add: (bits: number, where: number) => void): number {
  if (isUnspaced(token)) return readRun(token, at, 1, add)
  const word = token.replace(DIGIT, (digit) => LETTER_OF[digit] ?? digit)
  const bits = classesOf(word)
  if (bits !== 0) add(bits, at)
  return word.length < GLUED ? 0 : readRun(word.slice(0, MOST_GLUED), at, MIN_GLUED_PART, add)
}

/** Digits that stand for letters: "1gn0re". */
const LETTER_OF: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't' }
const DIGIT = /[013457]/g

/** Words between "this" and what it points to. */
const SELF_DISTANCE = 3

/** Reads words that stand in a run of letters; returns how many words long the run is. */
function readRun(run: string, at: number, shortest: number, add: (bits: number, where: number) => void): number {
  for (let place = 0; place < run.length; ) {
    const word = wordAt(run, place, shortest)
    if (word !== '') add(classesOf(word), at + Math.floor(place / LETTERS_A_WORD))
    place += Math.max(word.length, 1)
  }
  return Math.ceil(run.length / LETTERS_A_WORD)
}
