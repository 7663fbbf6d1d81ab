// What is embedded of records, and the vectors of its parts.
import { glossRecord } from '../../packages/search/dist/lexicon/gloss-record.js'
import { getBuiltInLexicon } from '../../packages/search/dist/lexicon/lexicon.js'
import { embeddingTextsOf } from '../../packages/search/dist/ranking/embedding-texts.js'

/** The texts of a record that are embedded: in English, word by word, if it is in another language. */
export function embeddedParts(record) {
  const gloss = glossRecord(record, getBuiltInLexicon())
  const parts = embeddingTextsOf(record)
  return gloss ? parts.map(({ part, text }) => ({ part, text: gloss.english(text) })) : parts
}

/** @param vectorOf the vector of a text */
export function createPartVectors(records, vectorOf) {
  const parts = records.map((record) => embeddedParts(record).map(({ text }) => vectorOf(text)))
  return {
    dimensions: parts[0][0].length,
    whole: (position) => parts[position][0],
    parts: (position) => parts[position],
  }
}
