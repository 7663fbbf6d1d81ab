import { type JsonObject, readRecord, redactRecord } from '@switchboard/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AgentIndex, createAgentIndex } from './agent-index.js'
import { type Condition, conditionTest } from './conditions.js'
import { readQuery } from './ranking/read-query.js'
import type { IndexedAgent, View } from './select-agents.js'

const everything = (agent: IndexedAgent) => agent.record

function agent(number: number, document: JsonObject = {}, status = 'active'): IndexedAgent {
  const whole = {
    name: `Agent ${number}`,
    description: '',
    capabilities: [],
    endpoint: 'https://a.example/',
    ...document,
  }
  return { number, status, record: readRecord('aidip', whole, String(document.id ?? `agent-${number}`)) }
}

/** Searches by words only. */
async function search(index: AgentIndex<IndexedAgent>, text: string, view: View<IndexedAgent> = everything) {
  const query = { query: readQuery(text), vectors: [] }
  return (await index.search(query, { conditions: [], view }, { skip: 0, take: 100 })).ranked
}

const foundNumbers = async (index: AgentIndex<IndexedAgent>, text: string): Promise<number[]> =>
  (await search(index, text)).map((hit) => hit.agent.number)

const numbersOf = (agents: Iterable<IndexedAgent>): number[] => Array.from(agents, ({ number }) => number)

describe('AgentIndex', () => {
  it('finds an agent by id and number until it is removed', () => {
    const index = createAgentIndex<IndexedAgent>()
    index.put(agent(7, { id: 'seven' }))
    expect(index.get('seven')).toBe(index.byNumber(7))
    index.remove('seven')
    expect([index.get('seven'), index.byNumber(7), index.size]).toEqual([undefined, undefined, 0])
    expect(numbersOf(index.select({ conditions: [], view: everything }))).toEqual([])
  })

  it('keeps the position of a replaced agent and finds it by its new content only', async () => {
    const index = createAgentIndex<IndexedAgent>()
    for (const number of [1, 2, 3]) index.put(agent(number, { id: `a${number}`, tags: ['old'], description: 'alpha' }))
    index.put(agent(2, { id: 'a2', tags: ['new'], description: 'beta' }))
    const by = (tag: string) => numbersOf(index.select({ conditions: [{ kind: 'tag', all: [tag] }], view: everything }))
    expect([by('old'), by('new')]).toEqual([[1, 3], [2]])
    expect(numbersOf(index.select({ conditions: [], view: everything }))).toEqual([1, 2, 3])
    expect([await foundNumbers(index, 'alpha'), await foundNumbers(index, 'beta')]).toEqual([[1, 3], [2]])
  })

  it('applies the boost before cutting the page; it lowers no other score', async () => {
    const index = createAgentIndex<IndexedAgent>()
    for (const number of [1, 2, 3]) index.put(agent(number, { description: `alpha ${'beta '.repeat(number)}` }))
    const text = { query: readQuery('alpha'), vectors: [] }
    const first = async (boost?: (found: IndexedAgent) => number) =>
      (await index.search(text, { conditions: [], view: everything }, { skip: 0, take: 1, boost })).ranked[0]
    const last = (await search(index, 'alpha')).at(-1)
    const plain = last?.score ?? 0
    expect([(await first())?.agent.number, last?.agent.number]).toEqual([1, 3])
    const boost = ({ number }: IndexedAgent): number => (number === 3 ? 0.9 : 0)
    const raised = await first(boost)
    expect(raised).toMatchObject({ agent: { number: 3 }, parts: last?.parts })
    expect(raised?.score).toBeCloseTo(plain + (raised?.raised ?? 0))
    const second = await index.search(text, { conditions: [], view: everything }, { skip: 1, take: 1, boost })
    expect(second.ranked[0]?.score).toBe((await first())?.score)
  })

  it('moves an agent to the end when its id is registered again under a new number', () => {
    const index = createAgentIndex<IndexedAgent>()
    index.put(agent(1, { id: 'a' }))
    index.put(agent(2, { id: 'b' }))
    index.put(agent(3, { id: 'a' }))
    expect(numbersOf(index.select({ conditions: [], view: everything }))).toEqual([2, 3])
    expect(index.byNumber(1)).toBeUndefined()
  })

  it('indexes deferred words step by step, and finds by text what is indexed', async () => {
    const index = createAgentIndex<IndexedAgent>()
    for (const number of [1, 2, 3])
      index.put(agent(number, { id: `a${number}`, tags: ['t'], description: 'alpha' }), 'later')
    expect(numbersOf(index.select({ conditions: [{ kind: 'tag', all: ['t'] }], view: everything }))).toEqual([1, 2, 3])
    await index.indexDeferred(1)
    expect([await foundNumbers(index, 'alpha'), index.deferred]).toEqual([[1], 2])
    index.put(agent(3, { id: 'a3', description: 'beta' }))
    expect([await foundNumbers(index, 'beta'), index.deferred]).toEqual([[3], 1])
    await index.indexDeferred(10)
    expect([await foundNumbers(index, 'alpha'), index.deferred]).toEqual([[1, 2], 0])
    index.put(agent(4, { id: 'a4', description: 'alpha' }), 'later')
    index.remove('a4')
    expect(index.deferred).toBe(0)
  })

  it('ranks by matched words, rare ones first, and breaks ties by registration order', async () => {
    const index = createAgentIndex<IndexedAgent>()
    index.put(agent(1, { description: 'translates text' }))
    index.put(agent(2, { description: 'translates contracts into Chinese' }))
    index.put(agent(3, { description: 'translates text' }))
    const hits = await search(index, 'translate a contract to chinese')
    expect(hits.map((hit) => hit.agent.number)).toEqual([2, 1, 3])
    expect(hits.every(({ score }) => score > 0 && score <= 1)).toBe(true)
    expect(await search(index, 'zebra')).toEqual([])
  })

  it('finds nothing that the view hides, and does not index private members', async () => {
    const index = createAgentIndex<IndexedAgent>()
    index.put(agent(1, { tags: ['secret-tag'], private: ['tags'], description: 'plain' }))
    index.put(agent(2, { tags: ['secret-tag'], visibility: 'private' }))
    const stranger = (found: IndexedAgent) => (found.number === 2 ? undefined : redactRecord(found.record))
    const select = (view: typeof stranger) =>
      numbersOf(index.select({ conditions: [{ kind: 'tag', all: ['secret-tag'] }], view }))
    expect(select(stranger)).toEqual([])
    expect(select(everything)).toEqual([1, 2])
    expect(await search(index, 'secret', stranger)).toEqual([])
    expect(await search(index, 'plain', stranger)).toHaveLength(1)
  })

  it('selects exactly the agents that meet the conditions', () => {
    const word = fc.constantFrom('a', 'B', 'b', 'c', 'tool', 'skill')
    const words = fc.array(word, { maxLength: 2 })
    const document = fc.record({
      capabilities: fc.uniqueArray(word, { maxLength: 3 }),
      tags: fc.uniqueArray(word, { maxLength: 3 }),
      protocols: fc.uniqueArray(word, { maxLength: 2 }),
      status: fc.constantFrom('active', 'inactive'),
      license: word,
    })
    const name = fc.oneof(fc.record({ exact: word }), fc.record({ prefix: fc.constantFrom('', 'a', 'to') }))
    const condition: fc.Arbitrary<Condition> = fc.oneof(
      fc.record({ kind: fc.constant('capability' as const), all: words }),
      fc.record({ kind: fc.constant('tag' as const), all: words }),
      fc.record({ kind: fc.constant('protocol' as const), value: word }),
      fc.record({
        kind: fc.constant('profile-tags' as const),
        required: fc.array(fc.array(word, { minLength: 1, maxLength: 2 }), { maxLength: 2 }),
        excluded: words,
      }),
      fc.record({ kind: fc.constant('member' as const), name: fc.constant('license'), value: word }),
      fc.record({ kind: fc.constant('status' as const), anyOf: fc.constant(['inactive']), excluded: fc.boolean() }),
      fc.record(
        { kind: fc.constant('directory-capability' as const), name, type: word, tag: word },
        { requiredKeys: ['kind'] },
      ),
    )
    fc.assert(
      fc.property(
        fc.array(document, { maxLength: 12 }),
        fc.array(condition, { maxLength: 3 }),
        fc.nat(11),
        (documents, conditions, removed) => {
          const index = createAgentIndex<IndexedAgent>()
          const agents = documents.map((each, i) => agent(i + 1, each, each.status))
          for (const each of agents) index.put(each)
          index.remove(`agent-${removed}`)
          const expected = agents.filter(
            ({ number, record, status }) =>
              number !== removed && conditions.every((each) => conditionTest(each)(record, status)),
          )
          expect(numbersOf(index.select({ conditions, view: everything }))).toEqual(numbersOf(expected))
        },
      ),
      { numRuns: 500 },
    )
  })
})
