import { isStopWord } from '../words/stop-words.js'
import type { Vocabulary } from './vocabulary.js'

/** A word found in a run of characters without spaces, or characters between words. */
export interface Segment {
  readonly from: number
  readonly to: number
  /** What it means; empty if it is unknown or a stop word. */
  readonly english: readonly string[]
  readonly isStop: boolean
}

const MAX_WORD_CHARACTERS = 10
/** Costs: few long words and few unknown characters are best. Kana that belong to no word are endings and particles. */
const COST = { word: 1, stop: 0.8, character: 1.5, verb: 1.3, unknown: 4, unknownKana: 2 }

const HAN = /\p{Script=Han}/u
const KANA = /\p{Script=Hiragana}/u

/** Splits a run into words by the cheapest path: on the whole, the longest words. */
export function segment(characters: readonly string[], language: string, vocabulary: Vocabulary): Segment[] {
  const folded = characters.map((character) => vocabulary.fold(character))
  const costs = new Float64Array(characters.length + 1)
  const best: Segment[] = []
  for (let from = characters.length - 1; from >= 0; from--) {
    const isKana = KANA.test(folded[from] ?? '')
    let chosen: Segment = { from, to: from + 1, english: [], isStop: isKana }
    let cost = (isKana ? COST.unknownKana : COST.unknown) + (costs[from + 1] ?? 0)
    for (const word of wordsFrom(folded, from, language, vocabulary)) {
      const own = costOf(word, folded)
      if (own + (costs[word.to] ?? 0) < cost) {
        chosen = word
        cost = own + (costs[word.to] ?? 0)
      }
    }
    costs[from] = cost
    best[from] = chosen
  }
  const path: Segment[] = []
  for (let at = 0; at < characters.length; ) {
    const next = best[at]
    if (!next) break
    path.push(next)
    at = next.to
  }
  return mergeUnknown(path, folded)
}

/** A character with endings in kana is less certain than two characters. */
function costOf({ from, to, isStop }: Segment, characters: readonly string[]): number {
  if (isStop) return COST.stop
  if (to === from + 1) return COST.character
  return KANA.test(characters[from + 1] ?? '') && HAN.test(characters[from] ?? '') ? COST.verb : COST.word
}

/** Known words that start at a position. */
function* wordsFrom(
  characters: readonly string[],
  from: number,
  language: string,
  vocabulary: Vocabulary,
): Generator<Segment> {
  let word = ''
  for (let to = from + 1; to <= Math.min(from + MAX_WORD_CHARACTERS, characters.length); to++) {
    word += characters[to - 1]
    const isStop = isStopWord(word, language)
    const english = isStop ? [] : vocabulary.find([word])
    if (isStop || english.length > 0) yield { from, to, english, isStop }
    const next = characters[to] ?? ''
    if (to === from + 2 && !vocabulary.begins(word) && !(HAN.test(word) && KANA.test(next))) return
  }
}

/**
 * Joins unknown characters. A single character next to an unknown one is part of an unknown word, perhaps a name: 北 in
 * 北辰 does not mean north.
 */
function mergeUnknown(path: readonly Segment[], characters: readonly string[]): Segment[] {
  const isUnknownHan = (segment: Segment | undefined): boolean =>
    segment !== undefined && segment.english.length === 0 && !segment.isStop && HAN.test(characters[segment.from] ?? '')
  const merged: Segment[] = []
  for (const [position, segment] of path.entries()) {
    const isDoubtful =
      segment.to === segment.from + 1 && (isUnknownHan(path[position - 1]) || isUnknownHan(path[position + 1]))
    const english = isDoubtful ? [] : segment.english
    const before = merged.at(-1)
    if (english.length === 0 && !segment.isStop && before && before.english.length === 0 && !before.isStop)
      merged[merged.length - 1] = { ...before, to: segment.to }
    else merged.push({ ...segment, english })
  }
  return merged
}
