// Sends queries of 3 to 12 letters that mean nothing through the whole search over the load set: typo correction, embedding,
// candidates and ranking. Counts empty lists, and how many of those come with suggestions; compared with MiniSearch and Orama.
// node bench/search/gibberish.mjs --data ../shared/retrieval [--queries N] [--quick] [--engines ours,minisearch,orama] [--cache FOLDER]
import { parseArgs } from 'node:util'
import { embedAll } from './embeddings.mjs'
import { miniSearch, orama } from './engines.mjs'
import { gibberish } from './misspell.mjs'
import { indexRecords, readAsDirectory } from './ours.mjs'
import { CACHE } from './scored-results.mjs'
import { readDistractors } from './sets.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    queries: { type: 'string', default: '200' },
    quick: { type: 'boolean', default: false },
    engines: { type: 'string', default: 'ours,minisearch,orama' },
    cache: { type: 'string', default: CACHE },
  },
})
/** Time limit for inserting into Orama. */
const MAX_INSERT_MS = 180_000
const QUICK_AGENTS = 5000

const lists = readDistractors(options.data, '').map((list) => list.slice(0, options.quick ? QUICK_AGENTS : undefined))
const records = lists.flat()
const texts = gibberish(Number(options.queries))
const percent = (count) => `${((100 * count) / texts.length).toFixed(1)} %`

console.log(`\ngibberish: ${records.length} agents, ${texts.length} queries`)
console.log(`${''.padEnd(18)} find nothing  with suggestions  answered, with the highest score`)

const ENGINES = {
  async ours() {
    const embed = (each) =>
      embedAll(each, options.cache, (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `))
    const index = await indexRecords(lists, embed)
    const asked = await Promise.all(texts.map((text) => readAsDirectory(index, text)))
    const vectorOf = await embed(asked.flatMap(({ query }) => query.texts))
    const found = await Promise.all(
      asked.map(({ query }) => index.rank({ query, queryVectors: query.texts.map(vectorOf) })),
    )
    const empty = asked.filter((_, i) => found[i].length === 0)
    const suggestions = await Promise.all(empty.map(({ unknown }) => index.suggest(unknown)))
    const suggesting = suggestions.filter((words) => words.length > 0)
    const answered = found.flatMap((ranked, i) =>
      ranked.slice(0, 1).map(({ score }) => `${texts[i]} ${score.toFixed(2)}`),
    )
    report('Switchboard', empty.length, percent(suggesting.length), answered.join(', '))
  },
  async minisearch() {
    const search = miniSearch(records)
    report('MiniSearch', countEmpty(texts.map((text) => search({ query: { text } }))))
  },
  async orama() {
    const search = await orama(records, { dimensions: 1 }, { maxMs: MAX_INSERT_MS })
    const found = await Promise.all(texts.map((text) => search({ query: { text } })))
    const title = search.count < records.length ? `Orama (${search.count})` : 'Orama full text'
    report(title, countEmpty(found))
  },
}

const countEmpty = (lists) => lists.filter((numbers) => numbers.length === 0).length

function report(title, empty, suggesting = '–', answered = '–') {
  console.log(title.padEnd(18), percent(empty).padStart(12), suggesting.padStart(17), '', answered)
}

for (const engine of options.engines.split(',')) await ENGINES[engine]()
