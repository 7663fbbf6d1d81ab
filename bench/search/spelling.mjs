// Measures the correction of typos: how much of the quality of correct queries misspelled ones reach, and how many queries of
// gibberish find nothing among the records of load/.
// node bench/search/spelling.mjs --data ../shared/retrieval [--sets a,b] [--queries N] [--quick] [--cache FOLDER]
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { UNKNOWN_WORDS_FLOOR } from '../../packages/search/dist/index.js'
import { readQuery } from '../../packages/search/dist/ranking/read-query.js'
import { embedAll } from './embeddings.mjs'
import { measure } from './measures.mjs'
import { gibberish, misspell } from './misspell.mjs'
import { indexRecords } from './ours.mjs'
import { readDistractors, readSet, SETS } from './sets.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    sets: { type: 'string', default: SETS.join(',') },
    queries: { type: 'string' },
    quick: { type: 'boolean', default: false },
    cache: { type: 'string', default: join(tmpdir(), 'switchboard-bench-vectors') },
  },
})
const maxQueries = Number(options.queries ?? (options.quick ? 100 : 100_000))
const GIBBERISH = 200

const embed = (texts) =>
  embedAll(texts, options.cache, (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `))

/** Reads a query like the directory does. */
function read(index, text, exact) {
  const { text: searched, unknown } = index.correct(text, { exact })
  return { ...readQuery(searched), ...(unknown.length > 0 && { minSimilarity: UNKNOWN_WORDS_FLOOR }) }
}

async function search(index, queries) {
  const vectorOf = await embed(queries.flatMap(({ texts }) => texts))
  return queries.map((query) => index.search({ query, queryVectors: query.texts.map(vectorOf), isExact: true }))
}

for (const name of options.sets.split(',')) {
  const set = readSet(options.data, name)
  const step = Math.max(1, Math.ceil(set.queries.length / maxQueries))
  const queries = set.queries.filter((_, i) => i % step === 0)
  const index = await indexRecords(set.agents, embed)
  const variants = [
    ['correct', ({ text }) => read(index, text, true)],
    ['correct, with correction', ({ text }) => read(index, text, false)],
    ['misspelled', ({ text }, i) => read(index, misspell(text, i), true)],
    ['misspelled, with correction', ({ text }, i) => read(index, misspell(text, i), false)],
  ]
  console.log(`\n${name}: ${set.agents.length} agents, ${queries.length} queries`)
  console.log(`${''.padEnd(28)}   nDCG@10  relative`)
  let correct = 0
  for (const [title, variant] of variants) {
    const { ndcg10 } = measure(await search(index, queries.map(variant)), queries)
    correct ||= ndcg10
    console.log(title.padEnd(28), (100 * ndcg10).toFixed(1).padStart(9), (ndcg10 / correct).toFixed(3).padStart(9))
  }
}

const records = readDistractors(options.data, '').slice(0, options.quick ? 10_000 : undefined)
const index = await indexRecords(records, embed)
const texts = gibberish(GIBBERISH)
const started = process.cpuUsage()
const asked = texts.map((text) => read(index, text, false))
const time = process.cpuUsage(started).user / 1000 / texts.length
const found = await search(index, asked)
const empty = found.filter((numbers) => numbers.length === 0).length / found.length
console.log(`\ngibberish: ${records.length} agents, ${texts.length} queries`)
console.log(`${(100 * empty).toFixed(1)} % find nothing; ${time.toFixed(2)} ms of CPU time to look for corrections`)
