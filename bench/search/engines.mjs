// The engines that are compared. Each takes records and their vectors, and ranks positions for a query.
import { create, insertMultiple, search as searchOrama } from '@orama/orama'
import MiniSearch from 'minisearch'
import { diversify } from '../../packages/search/dist/ranking/diversify.js'
import { partSimilarity } from '../../packages/search/dist/ranking/embedding-texts.js'
import { rankCandidates } from '../../packages/search/dist/ranking/rank-candidates.js'
import { textFieldsOf } from '../../packages/search/dist/words/text-fields.js'
import { createWordIndex } from '../../packages/search/dist/words/word-index.js'

const FIELDS = ['title', 'description', 'schema', 'example']
/** Candidates of words and of meaning each; the page has ten. */
const CANDIDATES = 100
/** Documents that Orama takes at once. */
const INSERTED = 500

const textsOf = (record) =>
  Object.fromEntries(Object.entries(textFieldsOf(record)).map(([name, texts]) => [name, texts.join('\n')]))

/** Words, meaning and ranking of packages/search, with an exact scan for the vectors. */
export function ours(records, vectors, { words = true, meaning = true } = {}) {
  const index = createWordIndex()
  records.forEach((record, position) => {
    index.put(position, textFieldsOf(record))
  })
  return ({ query, queryVectors }) => {
    const similarity = meaning ? vectors.bestParts(queryVectors, partSimilarity) : undefined
    const include = similarity ? highest(similarity, CANDIDATES) : []
    const found = index.search(query.words, { limit: CANDIDATES, include })
    const candidates = found.hits.map(({ number, score }) => ({
      number,
      wordScore: words ? score : 0,
      similarity: similarity?.[number],
      languages: records[number].languages,
    }))
    const ranked = rankCandidates(query, words ? found.maxScore : 0, candidates)
    const options = { publisherOf: (number) => records[number].publisher, termsOf: index.termsOf }
    return diversify(ranked, options).map(({ number }) => number)
  }
}

/** MiniSearch as its documentation has it, names first. */
export function miniSearch(records) {
  const index = new MiniSearch({ fields: FIELDS, searchOptions: { boost: { title: 2 }, combineWith: 'OR' } })
  index.addAll(records.map((record, id) => ({ id, ...textsOf(record) })))
  return ({ query }) => index.search(query.text).map(({ id }) => id)
}

/**
 * Orama's full text, or its hybrid search with the vectors of the agents' descriptions. What is not in after `mostMs`
 * stays out; `count` says how many are in.
 */
export async function orama(records, vectors, { hybrid = false, mostMs = Number.POSITIVE_INFINITY } = {}) {
  const texts = Object.fromEntries(FIELDS.map((field) => [field, 'string']))
  const index = create({ schema: { ...texts, vector: `vector[${vectors.dimensions}]` } })
  const until = performance.now() + mostMs
  let count = 0
  while (count < records.length && performance.now() < until) {
    const documents = records.slice(count, count + INSERTED).map((record, i) => ({
      id: String(count + i),
      ...textsOf(record),
      ...(hybrid && { vector: Array.from(vectors.whole(count + i)) }),
    }))
    await insertMultiple(index, documents, INSERTED)
    count += documents.length
  }
  const search = async ({ query, queryVectors }) => {
    const common = { term: query.text, properties: FIELDS, boost: { title: 2 }, limit: 10 }
    const wish = hybrid
      ? { ...common, mode: 'hybrid', similarity: 0, vector: { value: Array.from(queryVectors[0]), property: 'vector' } }
      : common
    return (await searchOrama(index, wish)).hits.map(({ id }) => Number(id))
  }
  return Object.assign(search, { count })
}

/** BM25 over all words in one field, no stems, no stop words: k1 0.9, b 0.4, as in the README of the data. */
export function plainBm25(records) {
  const [k1, b] = [0.9, 0.4]
  const postings = new Map()
  const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const lengths = records.map((record, position) => {
    const words = wordsOf(Object.values(textsOf(record)).join('\n'))
    for (const word of words) {
      const list = postings.get(word) ?? new Map()
      postings.set(word, list.set(position, (list.get(position) ?? 0) + 1))
    }
    return words.length
  })
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
  return ({ query }) => {
    const scores = new Map()
    for (const word of new Set(wordsOf(query.text))) {
      const list = postings.get(word) ?? new Map()
      const idf = Math.log(1 + (records.length - list.size + 0.5) / (list.size + 0.5))
      for (const [position, count] of list) {
        const part = (idf * count * (k1 + 1)) / (count + k1 * (1 - b + (b * lengths[position]) / mean))
        scores.set(position, (scores.get(position) ?? 0) + part)
      }
    }
    return [...scores]
      .sort((x, y) => y[1] - x[1] || x[0] - y[0])
      .slice(0, 10)
      .map(([position]) => position)
  }
}

/** Positions of the highest values, highest first. */
function highest(values, count) {
  return [...values.keys()].sort((a, b) => values[b] - values[a] || a - b).slice(0, count)
}
