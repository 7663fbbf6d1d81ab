// Data for the speed measurements: real agents and their vectors, synthetic ones beyond them, and requests.
import { join } from 'node:path'
import { readRecord } from '../../packages/protocol/dist/index.js'
import { embeddingTextsOf, packVectors, readQuery } from '../../packages/search/dist/index.js'
import { readAgents, seeded, spread } from '../registry/data.mjs'
import { embedAll } from './embeddings.mjs'
import { readSet, SETS } from './sets.mjs'
import { createAgentMixer } from './synthetic-agents.mjs'

/** Maximum weight of the second vector in a synthetic one. */
const MAX_MIX = 0.7

const progress = (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `)

/** Instead of a model. */
const noVectors = async () => () => new Float32Array(0)

/**
 * The agents of the load set with all their vectors, then synthetic ones with one vector each, by position.
 *
 * @param isModelled false: without vectors, which take half an hour the first time
 */
export async function readLoad({ data, cache, isModelled = true }) {
  const { documents } = readAgents(join(data, 'load', 'agents.jsonl'))
  const records = documents.map((document) => readRecord('aidip', document, document.id))
  const texts = records.map((record) => embeddingTextsOf(record).map(({ text }) => text))
  const vectorOf = await (isModelled ? embedAll : noVectors)(texts.flat(), cache, progress)
  const random = seeded(2)
  const anyVector = () => vectorOf(texts[Math.floor(random() * texts.length)][0])
  const mixed = () => {
    const [one, other, weight] = [anyVector(), anyVector(), random() * MAX_MIX]
    return Float32Array.from(one, (value, i) => value + weight * other[i])
  }
  const vectorsAt = (position) => (texts[position] ? texts[position].map(vectorOf) : [mixed()])
  return {
    documents,
    records,
    /** Call it in the order of positions to get the same records in every run. */
    recordAt: createAgentMixer(records),
    vectorsAt,
    packedAt: (position) => packVectors(vectorsAt(position)),
  }
}

/** Requests with their vectors, alternating between the sets. */
export async function readRequests({ data, cache, isModelled = true }, count) {
  const each = SETS.map((name) => spread(readSet(data, name).queries, Math.ceil(count / SETS.length)))
  const texts = each[0].flatMap((_, i) => each.map((queries) => queries[i].text)).slice(0, count)
  const queries = texts.map((text) => readQuery(text))
  const vectorOf = await (isModelled ? embedAll : noVectors)(
    queries.flatMap((query) => query.texts),
    cache,
    progress,
  )
  return queries.map((query) => ({ query, queryVectors: isModelled ? query.texts.map(vectorOf) : [] }))
}
