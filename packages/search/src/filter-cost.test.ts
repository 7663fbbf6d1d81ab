import { type JsonObject, type JsonValue, readRecord } from '@switchboard/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { within } from '../../protocol/test/cpu-time.js'
import { type AgentIndex, createAgentIndex } from './agent-index.js'
import { type Condition, conditionTest } from './conditions.js'
import type { IndexedAgent } from './select-agents.js'

const AGENTS = 20_000
/** Values of a filter: the server allows far fewer, so that a product with the agents shows. */
const VALUES = 2000
/** Milliseconds of CPU; comparing each agent with each value takes several seconds. */
const LIMIT_MS = 1500

const many = <T>(make: (i: number) => T): T[] => Array.from({ length: VALUES }, (_, i) => make(i))
const member = (name: string, value: JsonValue, asText = false): Condition => ({ kind: 'member', name, value, asText })

describe(`a filter with ${VALUES} values over ${AGENTS} agents`, () => {
  let index: AgentIndex<IndexedAgent>

  beforeAll(() => {
    index = createAgentIndex<IndexedAgent>()
    const document: JsonObject = {
      name: 'Agent',
      description: '',
      capabilities: ['translation'],
      tags: ['nlp', 'law'],
      endpoint: 'https://a.example/',
      supported_languages: ['en-GB', 'zh-CN', 'fr'],
      authentication: 'OAuth2',
      version: '1.0.0',
      publisher: 'Example',
      regions: ['eu', 'us', 'cn'],
    }
    for (let number = 0; number < AGENTS; number++) {
      index.put({ number, status: 'active', record: readRecord('aidip', document, `agent-${number}`) }, 'later')
    }
  })

  it.each<[string, number, Condition]>([
    [
      'the same version',
      AGENTS,
      member(
        'version',
        many(() => '1.0.0'),
      ),
    ],
    [
      'versions as text',
      0,
      member(
        'version',
        many((i) => `1.0.${i}`),
        true,
      ),
    ],
    [
      'items of a list',
      0,
      member(
        'regions',
        many((i) => `region-${i}`),
      ),
    ],
    ['nested lists', AGENTS, member('regions', [many((i) => [['eu', i % 2 === 0 ? 'us' : 'cn']])])],
    ['authentication', 0, { kind: 'authentication', anyOf: many((i) => `API-Key ${i}`) }],
    ['publishers', 0, { kind: 'publisher', anyOf: many((i) => `Publisher ${i}`) }],
    ['languages', AGENTS, { kind: 'language', all: many((i) => (i % 2 === 0 ? 'EN' : 'zh')) }],
    ['protocols', 0, { kind: 'profile-protocol', anyOf: many((i) => `MCP/${i}`) }],
    ['statuses', 0, { kind: 'status', anyOf: many((i) => `status-${i}`) }],
    ['tags', AGENTS, { kind: 'tag', all: many((i) => (i % 2 === 0 ? 'NLP' : 'law')) }],
    ['excluded tags', AGENTS, { kind: 'profile-tags', required: [], excluded: many((i) => `other-${i}`) }],
  ])('takes no time in proportion to their product: %s', (_, matches, condition) => {
    const selection = { conditions: [condition], view: ({ record }: IndexedAgent) => record }
    within(LIMIT_MS, () => expect([...index.select(selection)]).toHaveLength(matches))
  })
})

describe('a filter by the profile’s tags', () => {
  const TAGS = 1000
  const tags = Array.from({ length: TAGS }, (_, i) => `Tag-${i}`)
  const record = readRecord('aidip', { name: 'Agent', description: '', tags, endpoint: 'https://a.example/' }, 'agent')
  const required = tags.map((tag, i) => [tag.toLowerCase(), `other-${i}`])

  it('takes no time in proportion to the product of required tags and tags of the agents', () => {
    const test = conditionTest({ kind: 'profile-tags', required: [...required, ['absent']], excluded: ['unwanted'] })
    within(LIMIT_MS, () => {
      for (let agent = 0; agent < 1000; agent++) expect(test(record, 'active')).toBe(false)
    })
  })

  it('reads the tags of a few agents only: those of the others are in the index', () => {
    const index = createAgentIndex<IndexedAgent>()
    let reads = 0
    for (let number = 0; number < 2000; number++) {
      const document = {
        name: 'Agent',
        description: '',
        endpoint: 'https://a.example/',
        tags: ['All', `Tag-${number % 5}`],
      }
      const { tags, ...rest } = readRecord('aidip', document, `agent-${number}`)
      const counting = { ...rest, tags }
      Object.defineProperty(counting, 'tags', {
        get: () => {
          reads++
          return tags
        },
      })
      index.put({ number, status: 'active', record: counting }, 'later')
    }
    reads = 0
    const view = ({ record }: IndexedAgent) => record
    const select = (required: string[][], excluded: string[]) =>
      [...index.select({ conditions: [{ kind: 'profile-tags', required, excluded }], view })].map(
        ({ number }) => number,
      )
    const expected = (kept: number[]) =>
      Array.from({ length: 2000 }, (_, number) => number).filter((number) => kept.includes(number % 5))
    expect(select([], ['TAG-1', 'tag-3', 'absent'])).toEqual(expected([0, 2, 4]))
    expect(
      select(
        [
          ['tag-0', 'tag-1'],
          ['all', 'absent'],
        ],
        ['tag-1'],
      ),
    ).toEqual(expected([0]))
    expect(
      select(
        [
          ['tag-0', 'tag-1'],
          ['absent', 'other'],
        ],
        [],
      ),
    ).toEqual([])
    expect(reads).toBeLessThan(1000)
  })
})
