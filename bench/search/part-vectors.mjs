// What is embedded of records, and the vectors of its parts.
import { glossRecord } from '../../packages/search/dist/lexicon/gloss-record.js'
import { openLexicon } from '../../packages/search/dist/lexicon/lexicon.js'
import { embeddingTextsOf } from '../../packages/search/dist/ranking/embedding-texts.js'

/** The texts of a record that are embedded: in English, word by word, if it is in another language. */
function embeddedTexts(record) {
  const gloss = glossRecord(record, openLexicon())
  const texts = embeddingTextsOf(record).map(({ text }) => text)
  return gloss ? texts.map(gloss.english) : texts
}

/**
 * The vectors of records by position. The lists are embedded one after the other, because each is cached on its own: the
 * load set is embedded once, whatever it is added to.
 *
 * @param embed takes texts and resolves to a lookup of their vectors
 */
export async function embedRecords(lists, embed) {
  const parts = []
  for (const records of lists) {
    const texts = records.map(embeddedTexts)
    const vectorOf = await embed(texts.flat())
    for (const each of texts) parts.push(each.map(vectorOf))
  }
  return {
    dimensions: parts[0][0].length,
    whole: (position) => parts[position][0],
    parts: (position) => parts[position],
  }
}
