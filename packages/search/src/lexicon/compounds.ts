import type { Vocabulary } from './vocabulary.js'

/** Letters of the shortest part of a compound. Shorter ones occur in other words by chance. */
const MIN_PART_LETTERS = 4
/** Letters of the longest compound: nobody writes longer ones, and each letter is a place to split at. */
const MAX_LETTERS = 60
/** Words that a compound consists of at most. */
const MAX_PARTS = 3
/** Letters before a head whose modifier is unknown. */
const MIN_MODIFIER_LETTERS = 3

type Parts = readonly (readonly string[])[]

/**
 * What the parts of a compound mean: "Rechnungsdaten" is invoice and data. If the first part is unknown, the last one still
 * says what the thing is: a "Brückenrechner" is a calculator. Empty if no part is known.
 *
 * @param links letters that may stand between parts
 */
export function partsOfCompound(word: string, links: readonly string[], vocabulary: Vocabulary): Parts {
  if (word.length < 2 * MIN_PART_LETTERS || word.length > MAX_LETTERS) return []
  return split(word, links, vocabulary, MAX_PARTS) ?? headOf(word, vocabulary)
}

/** The longest first part decides. */
function split(word: string, links: readonly string[], vocabulary: Vocabulary, maxParts: number): Parts | undefined {
  if (maxParts < 2) return undefined
  for (let length = word.length - MIN_PART_LETTERS; length >= MIN_PART_LETTERS; length--) {
    const rest = word.slice(length)
    const first = firstPart(word.slice(0, length), links, vocabulary)
    if (first.length === 0) continue
    const last = vocabulary.find([rest])
    const others = last.length > 0 ? [last] : split(rest, links, vocabulary, maxParts - 1)
    if (others) return [first, ...others]
  }
  return undefined
}

/** A part in the middle of a compound is a word as it is listed, perhaps with linking letters. */
function firstPart(part: string, links: readonly string[], vocabulary: Vocabulary): readonly string[] {
  for (const link of links) {
    if (!part.endsWith(link) || part.length - link.length < MIN_PART_LETTERS) continue
    const bare = part.slice(0, part.length - link.length)
    const found = vocabulary.findExact(bare)
    if (found.length > 0) return found
  }
  // "Sprach-" stands for "Sprache", "Such-" for "suchen".
  for (const ending of ['e', 'en']) {
    const found = vocabulary.findExact(part + ending)
    if (found.length > 0) return found
  }
  return []
}

function headOf(word: string, vocabulary: Vocabulary): Parts {
  for (let start = MIN_MODIFIER_LETTERS; start <= word.length - MIN_PART_LETTERS - 1; start++) {
    const found = vocabulary.findExact(word.slice(start))
    if (found.length > 0) return [found]
  }
  return []
}
