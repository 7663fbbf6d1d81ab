import { readRecord } from '@switchboard/protocol'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type AgentIndex, createAgentIndex, type TextQuery } from './agent-index.js'
import type { Condition } from './conditions.js'
import type { IndexedAgent } from './entry.js'
import { rankCandidates } from './ranking/blend.js'
import { readQuery } from './ranking/query.js'
import { CANDIDATES } from './text-search.js'
import { packVectors } from './vectors/packed-vectors.js'
import { createVectorIndex } from './vectors/vector-index.js'
import { textFieldsOf } from './words/text-fields.js'
import { createWordIndex } from './words/word-index.js'

const AGENTS = 100_000
const DIMENSIONS = 128
/** One of so many agents passes: from all of them to a single one, 0.001 %. */
const STEPS = [1, 2, 10, 100, 1000, 10_000, 100_000]

/** Small, quick and the same every time. */
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

describe('a search with hard filters', () => {
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
        name: `${word()} ${word()} ${word()}`,
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
  }, 120_000)

  /** The same question, answered by looking at every agent that the filter leaves. */
  const bruteForce = ({ query, embedded }: TextQuery, accepts: (agent: IndexedAgent) => boolean) => {
    const accepted = agents.filter(accepts).map(({ number }) => number)
    const all = words.search(query.words, { limit: 0, also: accepted })
    const byWords = all.hits.filter(({ score }) => score > 0)
    const scores = new Map(byWords.map(({ number, score }) => [number, score]))
    const byMeaning = embedded
      .flatMap((each) => vectors.search(each, Number.POSITIVE_INFINITY, { candidates: accepted }))
      .filter(({ similarity }) => similarity > 0.2)
    const similarities = new Map(byMeaning.map(({ number, similarity }) => [number, similarity]))
    const chosen = new Set([...byWords, ...byMeaning.slice(0, CANDIDATES)].map(({ number }) => number))
    const head = new Set(
      [...byWords.slice(0, CANDIDATES), ...byMeaning.slice(0, CANDIDATES)].map(({ number }) => number),
    )
    const ranked = rankCandidates(
      query,
      all.best,
      Array.from(head, (number) => ({
        number,
        words: scores.get(number) ?? 0,
        similarity: similarities.get(number),
        languages: undefined,
      })),
    )
    return { total: chosen.size, ranked: ranked.map(({ number }) => number) }
  }

  const filters = (step: number): [string, Condition][] => [
    ['an index of terms', { kind: 'tag', value: `every-${step}` }],
    ['a look at each agent', { kind: 'member', name: 'steps', value: `every-${step}` }],
  ]

  it.each(STEPS.flatMap((step) => filters(step).map(([how, condition]) => ({ step, how, condition }))))(
    'finds what filtering all agents first would, when one of $step passes, by $how',
    ({ step, condition }) => {
      fc.assert(
        fc.property(fc.array(fc.nat(3000), { minLength: 1, maxLength: 4 }), fc.nat(1e6), (numbers, seed) => {
          const draw = randomNumbers(seed)
          const direction = Float32Array.from({ length: DIMENSIONS }, () => draw() - 0.5)
          const length = Math.hypot(...direction)
          const query = readQuery(numbers.map((number) => `w${number}`).join(' '), { modelLanguages: 'all' })
          const text: TextQuery = {
            // Words side by side are looked for in the best of a search only, which brute force would not know.
            query: { ...query, words: { ...query.words, pairs: [] } },
            embedded: [direction.map((number) => number / length)],
          }
          const expected = bruteForce(text, ({ number }) => number % step === 0)
          const selection = { conditions: [condition], view: ({ record }: IndexedAgent) => record }
          const { ranked, total } = index.search(text, selection, { skip: 0, take: 30 })
          expect(total).toBe(expected.total)
          expect(ranked.map(({ agent }) => agent.number)).toEqual(expected.ranked.slice(0, 30))
          const pages = [0, 10, 20].flatMap((skip) => index.search(text, selection, { skip, take: 10 }).ranked)
          expect(pages).toEqual(ranked)
        }),
        { numRuns: 3 },
      )
    },
    60_000,
  )

  it('gives every match once over all its pages', () => {
    const text: TextQuery = { query: readQuery('w1 w2 w3'), embedded: [vector()] }
    const selection = { conditions: [], view: ({ record }: IndexedAgent) => record }
    const { total } = index.search(text, selection, { skip: 0, take: 1 })
    const seen: number[] = []
    for (let skip = 0; skip < total; skip += 500) {
      seen.push(...index.search(text, selection, { skip, take: 500 }).ranked.map(({ agent }) => agent.number))
    }
    expect(total).toBeGreaterThan(CANDIDATES)
    expect([seen.length, new Set(seen).size]).toEqual([total, total])
  })
})
