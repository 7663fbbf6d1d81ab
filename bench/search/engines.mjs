// The engines to compare. Each takes records and their vectors, and returns a function that ranks positions for a query.
import { create, insertMultiple, search as searchOrama } from '@orama/orama'
import MiniSearch from 'minisearch'
import { packVectors } from '../../packages/search/dist/index.js'
import { textFieldsOf } from '../../packages/search/dist/words/text-fields.js'
import { createOurs } from './ours.mjs'

const FIELDS = ['title', 'description', 'schema', 'example']
/** Documents in one insert into Orama. */
const INSERT_BATCH = 500

const textsOf = (record) =>
  Object.fromEntries(Object.entries(textFieldsOf(record)).map(([name, texts]) => [name, texts.join('\n')]))

const NO_WORDS = { terms: [], bigrams: [] }

/** The index of packages/search, with an exact vector search; each kind of evidence can be left out. */
export function ours(records, vectors, { words = true, model = true, encoder } = {}) {
  const index = createOurs({ encoder })
  records.forEach((record, position) => {
    index.put(position, record)
    if (model) index.putVectors(position, packVectors(vectors.parts(position)))
  })
  return ({ query, queryVectors }) =>
    index.search({
      query: words ? query : { ...query, words: NO_WORDS },
      queryVectors: model ? queryVectors : [],
      isExact: true,
    })
}

/** MiniSearch as its documentation suggests, with a boost for the title. */
export function miniSearch(records, { fuzzy = false } = {}) {
  const index = new MiniSearch({ fields: FIELDS, searchOptions: { boost: { title: 2 }, combineWith: 'OR', fuzzy } })
  index.addAll(records.map((record, id) => ({ id, ...textsOf(record) })))
  return ({ query }) => index.search(query.text).map(({ id }) => id)
}

/**
 * Orama's full-text search, or its hybrid search with one vector for each agent. Stops inserting after `maxMs`; `count` is
 * the number of agents inserted.
 */
export async function orama(
  records,
  vectors,
  { hybrid = false, tolerance = 0, maxMs = Number.POSITIVE_INFINITY } = {},
) {
  const texts = Object.fromEntries(FIELDS.map((field) => [field, 'string']))
  const index = create({ schema: { ...texts, vector: `vector[${vectors.dimensions}]` } })
  const until = performance.now() + maxMs
  let count = 0
  while (count < records.length && performance.now() < until) {
    const documents = records.slice(count, count + INSERT_BATCH).map((record, i) => ({
      id: String(count + i),
      ...textsOf(record),
      ...(hybrid && { vector: Array.from(vectors.whole(count + i)) }),
    }))
    await insertMultiple(index, documents, INSERT_BATCH)
    count += documents.length
  }
  const search = async ({ query, queryVectors }) => {
    const common = { term: query.text, properties: FIELDS, boost: { title: 2 }, tolerance, limit: 10 }
    const request = hybrid
      ? { ...common, mode: 'hybrid', similarity: 0, vector: { value: Array.from(queryVectors[0]), property: 'vector' } }
      : common
    return (await searchOrama(index, request)).hits.map(({ id }) => Number(id))
  }
  return Object.assign(search, { count })
}

/** BM25 over all text as one field, without stemming and stop words; k1 and b from the README of the data. */
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
  const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
  return ({ query }) => {
    const scores = new Map()
    for (const word of new Set(wordsOf(query.text))) {
      const list = postings.get(word) ?? new Map()
      const idf = Math.log(1 + (records.length - list.size + 0.5) / (list.size + 0.5))
      for (const [position, count] of list) {
        const part = (idf * count * (k1 + 1)) / (count + k1 * (1 - b + (b * lengths[position]) / average))
        scores.set(position, (scores.get(position) ?? 0) + part)
      }
    }
    return [...scores]
      .sort((x, y) => y[1] - x[1] || x[0] - y[0])
      .slice(0, 10)
      .map(([position]) => position)
  }
}
