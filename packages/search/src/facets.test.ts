import type { AgentRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { type CountedAgent, createFacetCounter, type Facet, type FacetValue } from './facets.js'

let last = 0
const agent = (more: Partial<AgentRecord>) => ({
  number: ++last,
  record: { tags: [], capabilities: [], protocols: [], bindings: [], ...more } as unknown as AgentRecord,
  status: 'active',
})

const countValues = (facet: Facet, agents: CountedAgent[], limit: number, named: string[] = []): FacetValue[] =>
  createFacetCounter()
    .count([facet], agents, limit, () => named)
    .get(facet) ?? []

describe('counted values', () => {
  it('count an agent once, whatever the case, and are written as the first in the alphabet', () => {
    const agents = [agent({ tags: ['nlp', 'NLP', 'Nlp'] }), agent({ tags: ['Nlp'] }), agent({ tags: ['b'] })]
    expect(countValues('tags', agents, 10)).toEqual([
      { value: 'Nlp', count: 2 },
      { value: 'b', count: 1 },
    ])
  })

  it('count only so many for one agent', () => {
    const tags = Array.from({ length: 300 }, (_, n) => `t${String(n).padStart(3, '0')}`)
    const counted = countValues('tags', [agent({ tags }), agent({ tags: ['t299', 'other'] })], 1000)
    expect(counted).toHaveLength(52)
    expect(counted.find(({ value }) => value === 't299')?.count).toBe(1)
  })

  it('of languages include the agents that declare none', () => {
    const agents = [agent({ languages: ['zh-CN', 'zh-TW'] }), agent({ languages: ['EN'] }), agent({})]
    expect(countValues('supported_languages', agents, 10)).toEqual([
      { value: 'en', count: 2 },
      { value: 'zh', count: 2 },
    ])
  })

  it('are limited, except those that are named', () => {
    const agents = [agent({ tags: ['a', 'b', 'c'] }), agent({ tags: ['a', 'b'] }), agent({ tags: ['a'] })]
    expect(countValues('tags', agents, 1, ['C', 'none'])).toEqual([
      { value: 'a', count: 3 },
      { value: 'c', count: 1 },
      { value: 'none', count: 0 },
    ])
  })
})
