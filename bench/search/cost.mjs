// Measures what search costs beyond plain words: CPU time for each query, memory for each agent, megabytes of the package.
// node --expose-gc bench/search/cost.mjs --data ../shared/retrieval [--quick] [--cache FOLDER]
import { readdirSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createLocalEngine } from '../../packages/search/dist/engine/local-engine.js'
import { builtInStaticEncoder, createAgentIndex, readQuery } from '../../packages/search/dist/index.js'
import { createTextSearch } from '../../packages/search/dist/text-search.js'
import { CACHE } from './scored-results.mjs'
import { readDistractors, readSet, SETS } from './sets.mjs'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/retrieval' },
    quick: { type: 'boolean', default: false },
    cache: { type: 'string', default: CACHE },
  },
})
const QUICK_AGENTS = 5000
const QUERIES = 200
const WARM_UPS = 5
/** What the package contains for other languages and for the static embedding. */
const FOLDERS = ['lexicon', 'dist/vocabularies', 'static-model']

const heap = () => {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
/** Mean CPU time of a call in milliseconds. */
function cpuOf(items, call) {
  const start = process.cpuUsage()
  for (const item of items) call(item)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000 / items.length
}
const sizeOf = (folder) => readdirSync(folder).reduce((sum, name) => sum + statSync(new URL(name, folder)).size, 0)

const records = readDistractors(options.data, '')
  .flat()
  .slice(0, options.quick ? QUICK_AGENTS : undefined)
const encoder = builtInStaticEncoder()
readQuery('Wie wird das Wetter?')
const before = heap()
const textSearch = createTextSearch({ encoder })
const index = createAgentIndex({ engine: createLocalEngine(textSearch) })
records.forEach((record, number) => {
  index.put({ number, record, status: 'active' })
})
const perAgent = (heap() - before) / records.length
console.log(`\ncost: ${index.size} agents`)
console.log(`memory for each agent, with words, static vectors and filters: ${(perAgent / 1024).toFixed(1)} KiB`)

/** Corrects and reads a query like the directory does, without the promises of the index. */
const read = (text) => textSearch.read(text).query

for (const name of SETS) {
  const { queries } = readSet(options.data, name)
  const step = Math.ceil(queries.length / (2 * QUERIES))
  const all = queries.filter((_, i) => i % step === 0).map(({ text }) => text)
  const [texts, others] = [0, 1].map((rest) => all.filter((_, i) => i % 2 === rest))
  // Other queries warm up the code, so that those to measure are new.
  for (let round = 0; round < WARM_UPS; round++) for (const text of others) read(text)
  const costs = {
    'spelling and languages': cpuOf(texts, read),
    'sent again': cpuOf(texts, read),
    'static embedding': cpuOf(texts.map(read), ({ englishTexts }) => englishTexts.map(encoder.encode)),
  }
  const parts = Object.entries(costs).map(([part, ms]) => `${part} ${ms.toFixed(2)} ms`)
  console.log(`CPU time for a query of ${name}: ${parts.join(', ')}`)
}

const sizes = FOLDERS.map((name) => [name, sizeOf(new URL(`../../packages/search/${name}/`, import.meta.url))])
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`
const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0)
console.log(
  `package: ${sizes.map(([name, bytes]) => `${name} ${megabytes(bytes)}`).join(', ')}; together ${megabytes(total)}`,
)
