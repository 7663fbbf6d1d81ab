// The pieces of the SentencePiece vocabulary and their log probabilities.

/** The unknown piece, then control pieces that no text produces. */
const RESERVED = 6

/**
 * Sets the scores of the reserved pieces to null, and restores the scores that the package lost because it misread
 * pieces with a colon, such as ':' (null) and ':30' (30). The list is sorted by score, so the score of the preceding
 * piece is right to three digits.
 * @param {[string, number | null][]} original
 * @returns {[string, number | null][]} a piece's position is its id
 */
export function fixVocabulary(original) {
  let previous = 0
  return original.map(([piece, score], id) => {
    if (id < RESERVED) return [piece, null]
    if (score !== null && score < 0) previous = score
    return [piece, previous]
  })
}
