// What the speed of search is measured on: real agents with the vectors of their texts, made-up ones beyond, and requests.
import { join } from 'node:path'
import { readRecord } from '../../packages/protocol/dist/index.js'
import { embeddingTextsOf, packVectors, readQuery } from '../../packages/search/dist/index.js'
import { readAgents, spread } from '../registry/data.mjs'
import { embedAll } from './embeddings.mjs'
import { createAgentMixer } from './made-up-agents.mjs'
import { readSet, SETS } from './sets.mjs'
import { seeded } from './vectors-data.mjs'

/** How much of another text's vector goes into a made-up one, at most. */
const MOST_MIXED = 0.7

const progress = (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `)

/** The agents of the load set, then made-up ones, by position; each with all its vectors, a made-up one with one. */
export async function readLoad({ data, cache }) {
  const { documents } = readAgents(join(data, 'load', 'agents.jsonl'))
  const records = documents.map((document) => readRecord('aidip', document, document.id))
  const texts = records.map((record) => embeddingTextsOf(record).map(({ text }) => text))
  const vectorOf = await embedAll(texts.flat(), cache, progress)
  const random = seeded(2)
  const anyVector = () => vectorOf(texts[Math.floor(random() * texts.length)][0])
  const mixed = () => {
    const [one, other, weight] = [anyVector(), anyVector(), random() * MOST_MIXED]
    return Float32Array.from(one, (value, i) => value + weight * other[i])
  }
  const vectorsAt = (position) => (texts[position] ? texts[position].map(vectorOf) : [mixed()])
  return {
    documents,
    records,
    /** To be asked in order of positions: the same ones at every run. */
    recordAt: createAgentMixer(records),
    vectorsAt,
    packedAt: (position) => packVectors(vectorsAt(position)),
  }
}

/** Requests of all sets with what they mean, in an order in which the sets take turns. */
export async function readRequests({ data, cache }, count) {
  const each = SETS.map((name) => spread(readSet(data, name).queries, Math.ceil(count / SETS.length)))
  const texts = each[0].flatMap((_, i) => each.map((queries) => queries[i].text)).slice(0, count)
  const queries = texts.map((text) => readQuery(text))
  const vectorOf = await embedAll(
    queries.flatMap((query) => query.texts),
    cache,
    progress,
  )
  return queries.map((query) => ({ query, queryVectors: query.texts.map(vectorOf) }))
}
