// Compares scores with how often results are right: in each fifth of the scale, the mean score and the share of right results.
// node bench/search/calibration.mjs --data ../shared/retrieval [--sets a,b] [--distractors] [--queries N] [--quick] [--cache FOLDER]
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readQuery } from '../../packages/search/dist/ranking/read-query.js'
import { embedAll } from './embeddings.mjs'
import { indexRecords } from './ours.mjs'
import { readDistractors, readSet, SETS } from './sets.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    sets: { type: 'string', default: SETS.join(',') },
    distractors: { type: 'boolean', default: false },
    queries: { type: 'string' },
    quick: { type: 'boolean', default: false },
    cache: { type: 'string', default: join(tmpdir(), 'switchboard-bench-vectors') },
  },
})
const maxQueries = Number(options.queries ?? (options.quick ? 100 : 100_000))
const BINS = 5
/** A bin with fewer results says nothing. */
const MIN_RESULTS = 20

const embed = (texts) =>
  embedAll(texts, options.cache, (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `))
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

/** "0.86 → 0.90 (118)": mean score, share of right results, number of results. */
function cellOf(results) {
  if (results.length < MIN_RESULTS) return `(${results.length})`
  const [score, right] = [mean(results.map(({ score }) => score)), mean(results.map(({ isRight }) => Number(isRight)))]
  return `${score.toFixed(2)} → ${right.toFixed(2)} (${results.length})`
}

for (const name of options.sets.split(',')) {
  const set = readSet(options.data, name)
  const records = options.distractors ? [...set.agents, ...readDistractors(options.data, name)] : set.agents
  const step = Math.max(1, Math.ceil(set.queries.length / maxQueries))
  const queries = set.queries.filter((_, i) => i % step === 0)
  const index = await indexRecords(records, embed)
  const read = queries.map(({ text }) => readQuery(text))
  const vectorOf = await embed(read.flatMap((query) => query.texts))
  const results = read.flatMap((query, i) =>
    index
      .rank({ query, queryVectors: query.texts.map(vectorOf), isExact: true })
      .map(({ agent, score }, rank) => ({ rank, score, isRight: queries[i].relevant.has(agent.number) })),
  )
  console.log(`\n${name}: ${records.length} agents, ${queries.length} queries; mean score → share of right results`)
  for (const [title, depth] of [
    ['first', 1],
    ['first 10', 10],
  ]) {
    const bins = Array.from({ length: BINS }, (_, bin) =>
      results.filter(({ rank, score }) => rank < depth && Math.min(BINS - 1, Math.floor(score * BINS)) === bin),
    )
    console.log(title.padEnd(9), ...bins.map((bin) => cellOf(bin).padStart(20)))
  }
}
