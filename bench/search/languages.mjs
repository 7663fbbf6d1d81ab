// Compares queries in other languages with their English originals, on the same records: nDCG@10 of each, and their ratio;
// then the same ratio of MiniSearch and Orama.
// node bench/search/languages.mjs --data ../shared/retrieval [--languages de,fr] [--cache FOLDER]
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readQuery } from '../../packages/search/dist/ranking/read-query.js'
import { embedAll } from './embeddings.mjs'
import { miniSearch, orama, ours } from './engines.mjs'
import { measure } from './measures.mjs'
import { embedRecords } from './part-vectors.mjs'
import { readSet } from './sets.mjs'

const FOLDER = new URL('translations/', import.meta.url)

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    languages: { type: 'string' },
    cache: { type: 'string', default: join(tmpdir(), 'switchboard-bench-vectors') },
    quick: { type: 'boolean', default: false },
  },
})

/** Lines `set<TAB>query id<TAB>translation`. */
const readTranslations = (language) =>
  readFileSync(new URL(`${language}.tsv`, FOLDER), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
    .map(([set, id, text]) => ({ set, id, text }))

const languages =
  options.languages?.split(',') ?? readdirSync(FOLDER).flatMap((name) => /^(\w+)\.tsv$/.exec(name)?.[1] ?? [])
const translations = new Map(languages.map((language) => [language, readTranslations(language)]))
const sets = new Map()
for (const name of new Set([...translations.values()].flat().map(({ set }) => set))) {
  const set = readSet(options.data, name)
  const vectors = await embedRecords([set.agents], (texts) => embedAll(texts, options.cache))
  const engines = [ours(set.agents, vectors), miniSearch(set.agents), await orama(set.agents, vectors)]
  sets.set(name, { engines, byId: new Map(set.queries.map((query) => [query.id, query])) })
}

/** nDCG@10 of queries, by set, with each engine. */
async function evaluate(queries) {
  const vectorOf = await embedAll(
    queries.flatMap(({ read }) => read.texts),
    options.cache,
  )
  const bySet = []
  for (const [name, { engines, byId }] of sets) {
    const own = queries.filter(({ set }) => set === name)
    const labelled = own.map(({ id }) => byId.get(id))
    const ndcgs = []
    for (const rank of engines) {
      const rankings = []
      for (const { read } of own) rankings.push(await rank({ query: read, queryVectors: read.texts.map(vectorOf) }))
      ndcgs.push(measure(rankings, labelled).ndcg10)
    }
    bySet.push(ndcgs)
  }
  return bySet
}

const percent = (share) => (100 * share).toFixed(1).padStart(6)
const titles = [...sets.keys()].map((name) => `${name.padStart(24)}  MiniSearch  Orama`)
console.log(`\nlanguages: nDCG@10, and relative to English\n   ${titles.join('')}   recognised`)
for (const [language, lines] of translations) {
  const of = (text) => lines.map((line) => ({ ...line, read: readQuery(text(line)) }))
  const own = of(({ text }) => text)
  const original = await evaluate(of(({ set, id }) => sets.get(set).byId.get(id).text))
  const translated = await evaluate(own)
  const cells = translated.map((ndcgs, i) => {
    const [ratio, mini, other] = ndcgs.map((ndcg, engine) => (ndcg / original[i][engine]).toFixed(2))
    const own = `${percent(ndcgs[0])} of ${percent(original[i][0])} ${ratio}`
    return `${own.padStart(24)}${mini.padStart(12)}${other.padStart(7)}`
  })
  const recognised = own.filter(({ read }) => read.language === language).length
  console.log(language, ...cells, `${recognised} of ${own.length}`.padStart(12))
}
