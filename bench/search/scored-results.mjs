// The results of a set's queries with their scores, and whether they are right.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readQuery } from '../../packages/search/dist/ranking/read-query.js'
import { embedAll } from './embeddings.mjs'
import { indexRecords } from './ours.mjs'
import { readDistractors, readSet } from './sets.mjs'

export const CACHE = join(tmpdir(), 'switchboard-bench-vectors')
export const BINS = 5
/** A bin with fewer results says nothing. */
const MIN_RESULTS = 20

/** The results of each query of a set, best first, and how many tasks the query has. */
export async function searchSet({ data, cache, name, distractors, maxQueries = Number.POSITIVE_INFINITY, depth }) {
  const embed = (texts) => embedAll(texts, cache, (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `))
  const set = readSet(data, name)
  const lists = [set.agents, ...(distractors ? readDistractors(data, name) : [])]
  const step = Math.max(1, Math.ceil(set.queries.length / maxQueries))
  const queries = set.queries.filter((_, i) => i % step === 0)
  const index = await indexRecords(lists, embed)
  const read = queries.map(({ text }) => readQuery(text))
  const vectorOf = await embed(read.flatMap((query) => query.texts))
  const results = read.map((query, i) => ({
    tasks: Math.max(1, query.texts.length - 1),
    // Among many agents the directory searches approximately.
    results: index
      .rank({ query, queryVectors: query.texts.map(vectorOf), isExact: !distractors, take: depth })
      .map(({ agent, score, ownScore }) => ({ score, ownScore, isRight: queries[i].relevant.has(agent.number) })),
  }))
  return { agents: lists.flat().length, queries: results }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

/** For each fifth of the scale: the number of results, their mean score and the share that is right, if they are enough. */
export function binsOf(results) {
  return Array.from({ length: BINS }, (_, bin) => {
    const own = results.filter(({ score }) => Math.min(BINS - 1, Math.floor(score * BINS)) === bin)
    if (own.length < MIN_RESULTS) return { count: own.length }
    return {
      count: own.length,
      score: mean(own.map(({ score }) => score)),
      right: mean(own.map(({ isRight }) => Number(isRight))),
    }
  })
}
