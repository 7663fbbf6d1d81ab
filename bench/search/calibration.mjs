// Compares scores with how often results are right: in each fifth of the scale, the mean score and the share of right results.
// node bench/search/calibration.mjs --data ../shared/retrieval [--sets a,b] [--distractors] [--queries N] [--quick] [--cache FOLDER]
import { parseArgs } from 'node:util'
import { binsOf, CACHE, searchSet } from './scored-results.mjs'
import { SETS } from './sets.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    sets: { type: 'string', default: SETS.join(',') },
    distractors: { type: 'boolean', default: false },
    queries: { type: 'string' },
    quick: { type: 'boolean', default: false },
    cache: { type: 'string', default: CACHE },
  },
})
const maxQueries = Number(options.queries ?? (options.quick ? 100 : 100_000))
const DEPTH = 10

/** "0.86 → 0.90 (118)": mean score, share of right results, number of results. */
const cellOf = ({ count, score, right }) =>
  score === undefined ? `(${count})` : `${score.toFixed(2)} → ${right.toFixed(2)} (${count})`

const usefulOf = ({ useful }) => (useful === undefined ? '' : `${useful.toFixed(2)} by a reader`)

for (const name of options.sets.split(',')) {
  const { agents, queries } = await searchSet({ ...options, name, maxQueries, depth: DEPTH })
  console.log(`\n${name}: ${agents} agents, ${queries.length} queries; mean score → share of right results`)
  const rows = [
    ['first', queries.flatMap(({ results }) => results.slice(0, 1))],
    [`first ${DEPTH}`, queries.flatMap(({ results }) => results)],
  ]
  for (const [title, results] of rows) {
    const bins = binsOf(results)
    console.log(title.padEnd(9), ...bins.map((bin) => cellOf(bin).padStart(20)))
    if (bins.some(({ useful }) => useful !== undefined))
      console.log(' '.repeat(9), ...bins.map((bin) => usefulOf(bin).padStart(20)))
  }
}
