/** A stretch of text, and whether it matched the search. */
export interface Stretch {
  readonly text: string
  readonly isMatch: boolean
}

/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u
const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Endings that may differ between the word of a query and the same word in a text. */
const ENDING = /(?:ations?|ators?|ating|ate[ds]?|ions?|ings?|ers?|ors?|ed|es|e|s)$/
/** Letters that a stem keeps at least. */
const MIN_STEM = 4

/** Splits a text at the words that matched: in any case, with or without accents, in any form of the same stem. */
export function splitAtMatches(text: string, words: readonly string[]): Stretch[] {
  const { folded, origins } = fold(text)
  const wanted = [...new Set(words.flatMap((word) => fold(word).folded.match(WORD) ?? []))]
  const unspaced = wanted.filter((word) => UNSPACED.test(word))
  const stems = new Set(wanted.filter((word) => !UNSPACED.test(word)).map(stemOf))
  const isMatch = new Uint8Array(text.length)
  const mark = (from: number, to: number): void => {
    isMatch.fill(1, origins[from], origins[to] ?? text.length)
  }
  if (stems.size > 0)
    for (const { 0: word, index } of folded.matchAll(WORD))
      if (stems.has(stemOf(word))) mark(index, index + word.length)
  for (const word of unspaced)
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) mark(at, at + word.length)
  return stretchesOf(text, isMatch)
}

const stemOf = (word: string): string => {
  const stem = word.replace(ENDING, '')
  return stem.length >= MIN_STEM ? stem : word
}

/** The text in lower case and without accents, and where in the text each of its characters comes from. */
function fold(text: string): { folded: string; origins: number[] } {
  const origins: number[] = []
  let folded = ''
  let at = 0
  for (const character of text) {
    const plain = character.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
    for (let i = 0; i < plain.length; i++) origins.push(at)
    folded += plain
    at += character.length
  }
  return { folded, origins }
}

function stretchesOf(text: string, isMatch: Uint8Array): Stretch[] {
  const stretches: Stretch[] = []
  for (let from = 0; from < text.length; ) {
    let to = from + 1
    while (to < text.length && isMatch[to] === isMatch[from]) to++
    stretches.push({ text: text.slice(from, to), isMatch: isMatch[from] === 1 })
    from = to
  }
  return stretches
}
