// Measures what search costs beyond plain words: CPU time for each query, memory for each agent, megabytes of the package.
// node --expose-gc bench/search/cost.mjs --data ../shared/retrieval [--quick] [--cache FOLDER]
import { readdirSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { builtInStaticEncoder, createAgentIndex, readQuery } from '../../packages/search/dist/index.js'
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
/** What the package contains for other languages and for the static embedding. */
const FOLDERS = ['lexicon', 'dist/vocabularies', 'static-model']

const heap = () => {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
/** Mean CPU time of a call in milliseconds. The others only warm up: a query must not be measured twice. */
function cpuOf(items, others, call) {
  for (const item of others) call(item)
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
const index = createAgentIndex({ encoder })
records.forEach((record, number) => {
  index.put({ number, record, status: 'active' })
})
const perAgent = (heap() - before) / records.length
console.log(`\ncost: ${records.length} agents`)
console.log(`memory for each agent, with words, static vectors and filters: ${(perAgent / 1024).toFixed(1)} KiB`)

for (const name of SETS) {
  const { queries } = readSet(options.data, name)
  const step = Math.ceil(queries.length / (2 * QUERIES))
  const all = queries.filter((_, i) => i % step === 0).map(({ text }) => text)
  const [texts, others] = [0, 1].map((rest) => all.filter((_, i) => i % 2 === rest))
  const corrected = new Map()
  /** As the directory does it: in one pass, the language is recognised once. */
  const read = (text) => readQuery(text, corrected.get(text)?.corrections.length === 0 ? corrected.get(text) : {})
  const costs = {
    spelling: cpuOf(texts, others, (text) => corrected.set(text, index.correct(text))),
    'language and lexicon': cpuOf(texts, others, read),
    'static embedding': cpuOf(texts.map(read), others.map(read), ({ englishTexts }) =>
      englishTexts.map(encoder.encode),
    ),
  }
  const parts = Object.entries(costs).map(([part, ms]) => `${part} ${ms.toFixed(2)} ms`)
  const sum = Object.values(costs).reduce((total, ms) => total + ms, 0)
  console.log(`CPU time for a query of ${name}: ${parts.join(', ')}; together ${sum.toFixed(2)} ms`)
}

const sizes = FOLDERS.map((name) => [name, sizeOf(new URL(`../../packages/search/${name}/`, import.meta.url))])
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`
const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0)
console.log(
  `package: ${sizes.map(([name, bytes]) => `${name} ${megabytes(bytes)}`).join(', ')}; together ${megabytes(total)}`,
)
