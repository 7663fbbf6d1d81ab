// The results of a set's queries with their scores, and whether they are right.
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readQuery } from '../../packages/search/dist/ranking/read-query.js'
import { embedAll } from './embeddings.mjs'
import { indexRecords } from './ours.mjs'
import { readDistractors, readSet } from './sets.mjs'

export const CACHE = join(tmpdir(), 'switchboard-bench-vectors')
export const BINS = 5
/** A bin with fewer results, or fewer that somebody has read, says nothing. */
const MIN_RESULTS = 20
const MIN_JUDGED = 10

/** The results of each query of a set, best first, and how many tasks the query has. */
export async function searchSet({ data, cache, name, distractors, maxQueries = Number.POSITIVE_INFINITY, depth }) {
  const embed = (texts) => embedAll(texts, cache, (done, all) => process.stderr.write(`\rembedded ${done} of ${all} `))
  const set = readSet(data, name)
  const lists = [set.agents, ...(distractors ? readDistractors(data, name) : [])]
  const agents = lists.flat()
  const step = Math.max(1, Math.ceil(set.queries.length / maxQueries))
  const queries = set.queries.filter((_, i) => i % step === 0)
  const index = await indexRecords(lists, embed)
  const read = queries.map(({ text }) => readQuery(text))
  const vectorOf = await embed(read.flatMap((query) => query.texts))
  const search = async (query, { id, relevant }) => {
    // Among many agents the directory searches approximately.
    const isExact = !distractors
    const ranked = await index.rank({ query, queryVectors: query.texts.map(vectorOf), isExact, take: depth })
    return {
      tasks: Math.max(1, query.texts.length - 1),
      results: ranked.map(({ agent, score, ownScore }) => ({
        score,
        ownScore,
        isRight: relevant.has(agent.number),
        judgement: JUDGED.get(keyOf(id, agents[agent.number].id)),
      })),
    }
  }
  const results = await Promise.all(read.map((query, i) => search(query, queries[i])))
  return { agents: agents.length, queries: results }
}

const keyOf = (query, agent) => `${query}\t${agent}`

/** What a reader says of unlabelled results: whether the agent could do what the query asks for. */
const JUDGED = new Map(
  readFileSync(new URL('judged.tsv', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.split('\t'))
    .map(([query, agent, verdict]) => [keyOf(query, agent), verdict === '1']),
)

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

/** For each fifth of the scale: the number of results, their mean score and the share that is right, if they are enough. */
export function binsOf(results) {
  return Array.from({ length: BINS }, (_, bin) => {
    const own = results.filter(({ score }) => Math.min(BINS - 1, Math.floor(score * BINS)) === bin)
    if (own.length < MIN_RESULTS) return { count: own.length }
    const right = mean(own.map(({ isRight }) => Number(isRight)))
    const judged = own.filter(({ isRight, judgement }) => !isRight && judgement !== undefined)
    return {
      count: own.length,
      score: mean(own.map(({ score }) => score)),
      right,
      /** The share that a reader would call right, estimated from a sample of the others; undefined without one. */
      useful:
        judged.length < MIN_JUDGED
          ? undefined
          : right + (1 - right) * mean(judged.map(({ judgement }) => Number(judgement))),
    }
  })
}
