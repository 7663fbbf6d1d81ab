/** Pieces of text with their log probabilities; null for pieces that no text produces. The first is the unknown piece. */
export type Vocabulary = readonly (readonly [piece: string, score: number | null])[]

/** Splits a text into the pieces of a vocabulary. */
export interface Tokenizer {
  /** The ids of the most probable segmentation, as positions in the vocabulary; empty for a text without visible characters. */
  encode(text: string): number[]
}

/** SentencePiece's marker for the start of a word. */
const WORD_START = '\u2581'

const UNKNOWN = 0

/** An unknown character scores this much less than the least probable piece, as in SentencePiece. */
const UNKNOWN_PENALTY = 10

/** White space and control characters separate words. */
const SEPARATORS = /[\s\p{Cc}]+/u

/** Format characters, such as joiners and direction marks: they carry no meaning and could hide a word. */
const INVISIBLE = /\p{Cf}/gu

/** The best segmentation of a prefix of a word: its last piece and the path before it. */
interface Path {
  readonly score: number
  readonly id: number
  readonly before: Path | undefined
}

const START: Path = { score: 0, id: UNKNOWN, before: undefined }

/**
 * The unigram tokenizer of SentencePiece. No piece crosses a word boundary, so words are segmented one by one, and
 * none after the last token.
 *
 * @param maxTokens further tokens are dropped
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

  /** The most probable segmentation of a word, by the Viterbi algorithm. */
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

/** The ids of a path; consecutive unknown characters become one unknown piece. */
function idsOf(path: Path): number[] {
  const ids: number[] = []
  for (let { id, before } = path; before; { id, before } = before) {
    if (id !== UNKNOWN || ids.at(-1) !== UNKNOWN) ids.push(id)
  }
  return ids.reverse()
}
