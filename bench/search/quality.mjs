// Compares the ranking quality with MiniSearch, Orama and plain BM25 on the same records, queries and vectors.
// node bench/search/quality.mjs --data ../shared/retrieval [--examples] [--distractors] [--sets a,b] [--queries N]
//   [--quick] [--cache FOLDER] [--engines ours,words,static,model,embeddings,minisearch,orama,hybrid,bm25]
// --distractors adds the records of load/; Orama then needs minutes for each set, so you may want fewer --queries.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readQuery } from '../../packages/search/dist/ranking/read-query.js'
import { embedAll } from './embeddings.mjs'
import { miniSearch, orama, ours, plainBm25 } from './engines.mjs'
import { measure } from './measures.mjs'
import { embedRecords } from './part-vectors.mjs'
import { readDistractors, readSet, SETS } from './sets.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    sets: { type: 'string', default: SETS.join(',') },
    examples: { type: 'boolean', default: false },
    distractors: { type: 'boolean', default: false },
    queries: { type: 'string' },
    quick: { type: 'boolean', default: false },
    cache: { type: 'string', default: join(tmpdir(), 'switchboard-bench-vectors') },
    engines: { type: 'string', default: 'ours,words,static,model,embeddings,minisearch,orama,hybrid,bm25' },
  },
})

const ENGINES = {
  ours: ['Switchboard', (records, vectors) => ours(records, vectors)],
  words: ['  words only', (records, vectors) => ours(records, vectors, { model: false, encoder: null })],
  static: ['  words and static', (records, vectors) => ours(records, vectors, { model: false })],
  model: ['  words and model', (records, vectors) => ours(records, vectors, { encoder: null })],
  embeddings: ['  embeddings only', (records, vectors) => ours(records, vectors, { words: false })],
  minisearch: ['MiniSearch', (records) => miniSearch(records)],
  orama: ['Orama full text', (records, vectors) => orama(records, vectors)],
  hybrid: ['Orama hybrid', (records, vectors) => orama(records, vectors, { hybrid: true })],
  bm25: ['plain BM25', (records) => plainBm25(records)],
}

/** Maximum number of queries for each set, evenly spaced. */
const maxQueries = Number(options.queries ?? (options.quick ? 100 : 100_000))
const percent = (share) => (100 * share).toFixed(1).padStart(9)

for (const name of options.sets.split(',')) {
  const set = readSet(options.data, name, options)
  const lists = [set.agents, ...(options.distractors ? readDistractors(options.data, name) : [])]
  const records = lists.flat()
  const step = Math.max(1, Math.ceil(set.queries.length / maxQueries))
  const queries = set.queries.filter((_, i) => i % step === 0)
  const read = queries.map(({ text }) => readQuery(text))
  const embed = (texts) =>
    embedAll(texts, options.cache, (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `))
  const vectors = await embedRecords(lists, embed)
  const vectorOf = await embed(read.flatMap((query) => query.texts))
  console.log(`\n${name}: ${records.length} agents, ${queries.length} queries`)
  console.log(`${''.padEnd(20)} recall@1  recall@5 recall@10   nDCG@10   ms/query`)
  for (const [title, build] of options.engines.split(',').map((engine) => ENGINES[engine])) {
    const rank = await build(records, vectors)
    const started = performance.now()
    const rankings = []
    for (const query of read) rankings.push(await rank({ query, queryVectors: query.texts.map(vectorOf) }))
    const time = (performance.now() - started) / read.length
    const { recall1, recall5, recall10, ndcg10 } = measure(rankings, queries)
    console.log(title.padEnd(19), ...[recall1, recall5, recall10, ndcg10].map(percent), time.toFixed(2).padStart(10))
  }
}
