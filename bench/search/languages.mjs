// Compares queries in other languages with their English originals, on the same records: nDCG@10 of each, and their ratio.
// node bench/search/languages.mjs --data ../shared/retrieval [--languages de,fr] [--cache FOLDER]
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readQuery } from '../../packages/search/dist/ranking/read-query.js'
import { embedAll } from './embeddings.mjs'
import { ours } from './engines.mjs'
import { measure } from './measures.mjs'
import { createPartVectors, embeddedParts } from './part-vectors.mjs'
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
  const vectorOf = await embedAll(
    set.agents.flatMap((record) => embeddedParts(record).map(({ text }) => text)),
    options.cache,
  )
  const rank = ours(set.agents, createPartVectors(set.agents, vectorOf))
  sets.set(name, { rank, byId: new Map(set.queries.map((query) => [query.id, query])) })
}

/** nDCG@10 of queries, by set. */
async function evaluate(queries) {
  const vectorOf = await embedAll(
    queries.flatMap(({ read }) => read.texts),
    options.cache,
  )
  return [...sets].map(([name, { rank, byId }]) => {
    const own = queries.filter(({ set }) => set === name)
    const rankings = own.map(({ read }) => rank({ query: read, queryVectors: read.texts.map(vectorOf) }))
    return {
      name,
      count: own.length,
      ndcg: measure(
        rankings,
        own.map(({ id }) => byId.get(id)),
      ).ndcg10,
    }
  })
}

const percent = (share) => (100 * share).toFixed(1).padStart(6)
console.log(
  `\nlanguages: nDCG@10, and relative to English\n   ${[...sets.keys()].map((name) => name.padStart(24)).join('')}   recognised`,
)
for (const [language, lines] of translations) {
  const of = (text) => lines.map((line) => ({ ...line, read: readQuery(text(line)) }))
  const own = of(({ text }) => text)
  const original = await evaluate(of(({ set, id }) => sets.get(set).byId.get(id).text))
  const translated = await evaluate(own)
  const cells = translated.map(({ ndcg }, i) =>
    `${percent(ndcg)} of ${percent(original[i].ndcg)} ${(ndcg / original[i].ndcg).toFixed(2)}`.padStart(24),
  )
  const recognised = own.filter(({ read }) => read.language === language).length
  console.log(language, ...cells, `${recognised} of ${own.length}`.padStart(12))
}
