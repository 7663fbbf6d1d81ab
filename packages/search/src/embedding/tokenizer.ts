/** Pieces of text, each with the logarithm of its probability, or null if no text gives it. The first is "unknown". */
export type Vocabulary = readonly (readonly [piece: string, score: number | null])[]

/** Cuts a text into the pieces that a model knows. */
export interface Tokenizer {
  /** The ids of the most probable pieces: their places in the vocabulary. None for a text without visible characters. */
  encode(text: string): number[]
}

/** What SentencePiece writes where a word begins. */
const WORD_START = '\u2581'

const UNKNOWN = 0

/** How much worse than the worst piece an unknown character is, as in SentencePiece. */
const UNKNOWN_PENALTY = 10

/** What separates words. */
const SEPARATORS = /[\s\p{Cc}]+/u

/** Joiners, direction marks and the like: they say nothing, and could hide a word. */
const INVISIBLE = /\p{Cf}/gu

/** The best way to cut a word up to some place: the last piece, and what comes before it. */
interface Path {
  readonly score: number
  readonly id: number
  readonly before: Path | undefined
}

const START: Path = { score: 0, id: UNKNOWN, before: undefined }

/**
 * The unigram tokenizer of SentencePiece. No piece reaches over the beginning of a word, so each word is cut by itself,
 * and no word is looked at that comes after the last token.
 *
 * @param maxTokens what is beyond them is left out
 */
export function createTokenizer(vocabulary: Vocabulary, maxTokens: number): Tokenizer {
  const pieces = new Map<string, { id: number; score: number }>()
  let longest = 1
  let lowest = 0
  for (const [id, [piece, score]] of vocabulary.entries()) {
    if (score === null) continue
    pieces.set(piece, { id, score })
    longest = Math.max(longest, piece.length)
    lowest = Math.min(lowest, score)
  }
  const unknown = { id: UNKNOWN, score: lowest - UNKNOWN_PENALTY }

  /** Viterbi's search for the most probable pieces. */
  function bestPath(word: string): Path {
    const paths: (Path | undefined)[] = [START]
    for (let start = 0; start < word.length; start++) {
      const before = paths[start] ?? START
      const offer = (end: number, piece: { id: number; score: number }): void => {
        const score = before.score + piece.score
        const present = paths[end]
        if (!present || score > present.score) paths[end] = { score, id: piece.id, before }
      }
      offer(start + 1, unknown)
      for (let end = start + 1; end <= Math.min(start + longest, word.length); end++) {
        const piece = pieces.get(word.slice(start, end))
        if (piece) offer(end, piece)
      }
    }
    return paths[word.length] ?? START
  }

  return {
    encode(text) {
      const ids: number[] = []
      for (const word of wordsOf(text)) {
        ids.push(...idsOf(bestPath(WORD_START + word.slice(0, maxTokens * longest))))
        if (ids.length >= maxTokens) break
      }
      return ids.slice(0, maxTokens)
    },
  }
}

const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .split(SEPARATORS)
    .filter((word) => word !== '')

/** Several unknown characters in a row are one unknown piece. */
function idsOf(path: Path): number[] {
  const ids: number[] = []
  for (let { id, before } = path; before; { id, before } = before) {
    if (id !== UNKNOWN || ids.at(-1) !== UNKNOWN) ids.push(id)
  }
  return ids.reverse()
}
