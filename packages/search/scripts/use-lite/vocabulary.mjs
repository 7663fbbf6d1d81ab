// The pieces of the SentencePiece vocabulary and the logarithm of each one's probability.

/** The unknown piece, then markers that no text gives. */
const RESERVED = 6

/**
 * The package's list with null for the scores of the reserved pieces, and with those scores mended that a wrong reading
 * of the original list left without a value: all have a colon, such as ':' (null) and ':30' (30). The list is ordered by
 * score, so the score of the piece before is right to three digits.
 * @param {[string, number | null][]} original
 * @returns {[string, number | null][]} the place of a piece in the list is its id
 */
export function mendVocabulary(original) {
  let previous = 0
  return original.map(([piece, score], id) => {
    if (id < RESERVED) return [piece, null]
    if (score !== null && score < 0) previous = score
    return [piece, previous]
  })
}
