// Needs that name a conversion or an action, over the load set: is there an agent among the first that does this, rather than the
// opposite, or something else with the same things? Compared with MiniSearch.
// node bench/search/directions.mjs --data ../shared/retrieval [--quick] [--engines ours,minisearch] [--cache FOLDER]
// Each line of directions.tsv has a kind, a need, and two patterns for the text of an agent: what makes it right, and what makes it
// an agent for the opposite if it is not right. In patterns, "~" is up to 40 characters of a sentence, and ">" a "to" with up to 25
// characters on each side of it.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { embedAll } from './embeddings.mjs'
import { miniSearch } from './engines.mjs'
import { indexRecords, readAsDirectory } from './ours.mjs'
import { CACHE } from './scored-results.mjs'
import { readDistractors } from './sets.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    quick: { type: 'boolean', default: false },
    engines: { type: 'string', default: 'ours,minisearch' },
    cache: { type: 'string', default: CACHE },
  },
})
const QUICK_AGENTS = 5000
const FIRST = 3

const pattern = (text) =>
  text === undefined || text === ''
    ? /(?!)/
    : new RegExp(
        text
          .replaceAll('~', '[^.\\n]{0,40}')
          .replaceAll('>', '[^.\\n]{0,25}(?:\\b(?:to|into|as|2)\\b|→|➔)[^.\\n]{0,25}\\b'),
        'u',
      )
const needs = readFileSync(new URL('directions.tsv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t'))
  .map(([kind, need, right, opposite]) => ({ kind, need, right: pattern(right), opposite: pattern(opposite) }))

const lists = readDistractors(options.data, '').map((list) => list.slice(0, options.quick ? QUICK_AGENTS : undefined))
const records = lists.flat()

/** All text of an agent in lower case; the words of names are separated. */
const textOf = ({ name, description, tags, examples, operations }) =>
  [name, description, ...tags, ...examples.map(({ text }) => text)]
    .concat(operations.flatMap((operation) => [operation.name, operation.description ?? '']))
    .join('\n')
    .replace(/[-=]>/g, '→')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_-]/g, ' ')
    .toLowerCase()

const ENGINES = {
  async ours() {
    const embed = (texts) =>
      embedAll(texts, options.cache, (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `))
    const index = await indexRecords(lists, embed)
    const asked = await Promise.all(needs.map(({ need }) => readAsDirectory(index, need)))
    const vectorOf = await embed(asked.flatMap(({ query }) => query.texts))
    return Promise.all(asked.map(({ query }) => index.search({ query, queryVectors: query.texts.map(vectorOf) })))
  },
  minisearch() {
    const search = miniSearch(records)
    return needs.map(({ need }) => search({ query: { text: need } }))
  },
}
const TITLES = { ours: 'Switchboard', minisearch: 'MiniSearch' }

console.log(`\ndirections: ${records.length} agents, ${needs.length} needs`)
console.log(`${''.padEnd(30)} right first  right in ${FIRST}  opposite first`)
for (const engine of options.engines.split(',')) {
  const results = (await ENGINES[engine]()).map((numbers, i) => {
    const { kind, right, opposite } = needs[i]
    const judged = numbers.slice(0, FIRST).map((number) => {
      const text = textOf(records[number])
      return right.test(text) ? 'right' : opposite.test(text) ? 'opposite' : 'other'
    })
    return { kind, judged }
  })
  for (const kind of ['conversion', 'action']) {
    const own = results.filter((each) => each.kind === kind)
    const count = (holds) => String(own.filter(({ judged }) => holds(judged)).length)
    const figures = [
      count(([first]) => first === 'right').padStart(11),
      count((judged) => judged.includes('right')).padStart(11),
      count(([first]) => first === 'opposite').padStart(15),
    ]
    console.log(`${TITLES[engine]}: ${own.length} ${kind}s`.padEnd(30), ...figures)
  }
}
