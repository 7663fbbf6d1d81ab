import { readRecord } from '@switchboard/protocol'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type AgentIndex, createAgentIndex, type TextQuery } from './agent-index.js'
import type { Condition } from './conditions.js'
import { rankCandidates } from './ranking/rank-candidates.js'
import { readQuery } from './ranking/read-query.js'
import type { IndexedAgent } from './select-agents.js'
import { RERANK_LIMIT } from './text-search.js'
import { packVectors } from './vectors/packed-vectors.js'
import { createVectorIndex } from './vectors/vector-index.js'
import { textFieldsOf } from './words/text-fields.js'
import { createWordIndex } from './words/word-index.js'

const AGENTS = 100_000
const DIMENSIONS = 128
/** The filter passes one agent in this many: from all of them to a single one. */
const STEPS = [1, 2, 10, 100, 1000, 10_000, 100_000]

/** A linear congruential generator, so that every run uses the same numbers. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const random = randomNumbers(7)
const word = (): string => `w${Math.floor(random() ** 2 * 3000)}`
const vector = (): Float32Array => {
  const numbers = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5)
  const length = Math.hypot(...numbers)
  return numbers.map((number) => number / length)
}

describe('search with hard filters', () => {
  let index: AgentIndex<IndexedAgent>
  const agents: IndexedAgent[] = []
  const words = createWordIndex()
  const vectors = createVectorIndex(DIMENSIONS)

  beforeAll(() => {
    index = createAgentIndex<IndexedAgent>()
    index.setDimensions(DIMENSIONS)
    for (let number = 0; number < AGENTS; number++) {
      const steps = STEPS.filter((step) => number % step === 0).map((step) => `every-${step}`)
      const document = {
        // No word of a query: only the best of a search are scored for their names, which brute force does not model.
        name: `agent-${number}`,
        capabilities: [word(), word(), word()],
        description: Array.from({ length: 6 }, word).join(' '),
        endpoint: 'https://a.example/',
        tags: steps,
        steps,
      }
      const agent = { number, status: 'active', record: readRecord('aidip', document, `agent-${number}`) }
      const own = [vector()]
      agents.push(agent)
      index.put(agent)
      index.putVectors(number, packVectors(own))
      words.put(number, textFieldsOf(agent.record))
      vectors.put(number, own)
    }
  })

  /** The expected result: every accepted agent is scored. */
  const bruteForce = ({ query, vectors: queryVectors }: TextQuery, accepts: (agent: IndexedAgent) => boolean) => {
    const accepted = agents.filter(accepts).map(({ number }) => number)
    const all = words.search(query.words, { limit: 0, include: accepted })
    const byWords = all.hits.filter(({ score }) => score > 0)
    const scores = new Map(byWords.map(({ number, score }) => [number, score]))
    const bySimilarity = queryVectors
      .flatMap((each) => vectors.search(each, Number.POSITIVE_INFINITY, { candidates: accepted }))
      .filter(({ similarity }) => similarity > 0.15)
    const similarities = new Map(bySimilarity.map(({ number, similarity }) => [number, similarity]))
    const chosen = new Set([...byWords, ...bySimilarity.slice(0, RERANK_LIMIT)].map(({ number }) => number))
    const head = new Set(
      [...byWords.slice(0, RERANK_LIMIT), ...bySimilarity.slice(0, RERANK_LIMIT)].map(({ number }) => number),
    )
    const ranked = rankCandidates(
      query,
      all.maxScore,
      Array.from(head, (number) => ({
        number,
        wordScore: scores.get(number) ?? 0,
        similarities: { model: similarities.get(number) },
        languages: undefined,
      })),
    )
    return { total: chosen.size, ranked: ranked.map(({ number }) => number) }
  }

  const filters = (step: number): [string, Condition][] => [
    ['posting lists', { kind: 'tag', all: [`every-${step}`] }],
    ['a check of each agent', { kind: 'member', name: 'steps', value: `every-${step}` }],
  ]

  it.each(STEPS.flatMap((step) => filters(step).map(([how, condition]) => ({ step, how, condition }))))(
    'equals filtering first when one agent in $step passes, by $how',
    async ({ step, condition }) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(3000), { minLength: 1, maxLength: 4 }), fc.nat(1e6), async (numbers, seed) => {
          const draw = randomNumbers(seed)
          const direction = Float32Array.from({ length: DIMENSIONS }, () => draw() - 0.5)
          const length = Math.hypot(...direction)
          const query = readQuery(numbers.map((number) => `w${number}`).join(' '), { modelLanguages: 'all' })
          const text: TextQuery = {
            // Without bonuses: only the best of a search get them, which brute force does not model.
            query: { ...query, words: { ...query.words, bigrams: [], action: [] } },
            vectors: [direction.map((number) => number / length)],
          }
          const expected = bruteForce(text, ({ number }) => number % step === 0)
          const selection = { conditions: [condition], view: ({ record }: IndexedAgent) => record }
          const { ranked, total } = await index.search(text, selection, { skip: 0, take: 30 })
          expect(total).toBe(expected.total)
          expect(ranked.map(({ agent }) => agent.number)).toEqual(expected.ranked.slice(0, 30))
          const pages = await Promise.all([0, 10, 20].map((skip) => index.search(text, selection, { skip, take: 10 })))
          expect(pages.flatMap((page) => page.ranked)).toEqual(ranked)
        }),
        { numRuns: 3 },
      )
    },
  )

  it('returns every match exactly once over all pages', async () => {
    const text: TextQuery = { query: readQuery('w1 w2 w3'), vectors: [vector()] }
    const selection = { conditions: [], view: ({ record }: IndexedAgent) => record }
    const { total } = await index.search(text, selection, { skip: 0, take: 1 })
    const seen: number[] = []
    for (let skip = 0; skip < total; skip += 500) {
      const { ranked } = await index.search(text, selection, { skip, take: 500 })
      seen.push(...ranked.map(({ agent }) => agent.number))
    }
    expect(total).toBeGreaterThan(RERANK_LIMIT)
    expect([seen.length, new Set(seen).size]).toEqual([total, total])
  })
})
