// Measures the correction of typos: how much of the quality of correct queries misspelled ones reach; compared with MiniSearch
// and Orama as they are, and with the tolerance that their documentation suggests.
// node bench/search/spelling.mjs --data ../shared/retrieval [--sets a,b] [--queries N] [--quick] [--cache FOLDER]
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { embedAll } from './embeddings.mjs'
import { miniSearch, orama } from './engines.mjs'
import { measure } from './measures.mjs'
import { misspell } from './misspell.mjs'
import { indexRecords, readAsDirectory } from './ours.mjs'
import { readSet, SETS } from './sets.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    sets: { type: 'string', default: SETS.join(',') },
    queries: { type: 'string' },
    quick: { type: 'boolean', default: false },
    cache: { type: 'string', default: join(tmpdir(), 'switchboard-bench-vectors') },
  },
})
/** Full text only. */
const NO_VECTORS = { dimensions: 1 }
const maxQueries = Number(options.queries ?? (options.quick ? 100 : 100_000))

const embed = (texts) =>
  embedAll(texts, options.cache, (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `))

async function search(index, texts, { exact }) {
  const asked = await Promise.all(texts.map((text) => readAsDirectory(index, text, { exact })))
  const vectorOf = await embed(asked.flatMap(({ query }) => query.texts))
  return Promise.all(
    asked.map(({ query }) => index.search({ query, queryVectors: query.texts.map(vectorOf), isExact: true })),
  )
}

for (const name of options.sets.split(',')) {
  const set = readSet(options.data, name)
  const step = Math.max(1, Math.ceil(set.queries.length / maxQueries))
  const queries = set.queries.filter((_, i) => i % step === 0)
  const index = await indexRecords([set.agents], embed)
  const correct = queries.map(({ text }) => text)
  const misspelled = correct.map(misspell)
  const variants = [
    ['correct', correct, { exact: true }],
    ['correct, with correction', correct, { exact: false }],
    ['misspelled', misspelled, { exact: true }],
    ['misspelled, with correction', misspelled, { exact: false }],
  ]
  console.log(`\n${name}: ${set.agents.length} agents, ${queries.length} queries`)
  console.log(`${''.padEnd(28)}   nDCG@10  relative`)
  let reference = 0
  for (const [title, texts, how] of variants) {
    const { ndcg10 } = measure(await search(index, texts, how), queries)
    reference ||= ndcg10
    console.log(title.padEnd(28), (100 * ndcg10).toFixed(1).padStart(9), (ndcg10 / reference).toFixed(3).padStart(9))
  }
  const rivals = [
    ['MiniSearch', miniSearch(set.agents)],
    ['MiniSearch, fuzzy', miniSearch(set.agents, { fuzzy: 0.2 })],
    ['Orama', await orama(set.agents, NO_VECTORS)],
    ['Orama, tolerance 1', await orama(set.agents, NO_VECTORS, { tolerance: 1 })],
  ]
  for (const [title, rank] of rivals) {
    const ndcgOf = async (textOf) => {
      const rankings = []
      for (const [i, { text }] of queries.entries()) rankings.push(await rank({ query: { text: textOf(text, i) } }))
      return measure(rankings, queries).ndcg10
    }
    const ndcg10 = await ndcgOf(misspell)
    const relative = ndcg10 / (await ndcgOf((text) => text))
    console.log(title.padEnd(28), (100 * ndcg10).toFixed(1).padStart(9), relative.toFixed(3).padStart(9))
  }
}
