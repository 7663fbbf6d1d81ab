// The vectors of records, by part.
import { embeddingTextsOf } from '../../packages/search/dist/ranking/embedding-texts.js'

/** @param vectorOf the vector of a text */
export function createPartVectors(records, vectorOf) {
  const parts = records.map((record) => embeddingTextsOf(record).map(({ text }) => vectorOf(text)))
  return {
    dimensions: parts[0][0].length,
    whole: (position) => parts[position][0],
    parts: (position) => parts[position],
  }
}
