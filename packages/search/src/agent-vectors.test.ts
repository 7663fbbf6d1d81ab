import { type JsonObject, readRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { type AgentIndex, createAgentIndex } from './agent-index.js'
import { builtInStaticEncoder } from './embedding/static-encoder.js'
import { readQuery } from './ranking/read-query.js'
import type { IndexedAgent } from './select-agents.js'
import { packVectors } from './vectors/packed-vectors.js'

const encoder = builtInStaticEncoder()
const MODEL_DIMENSIONS = 128

const agent = (number: number, document: JsonObject): IndexedAgent => {
  const whole = { name: `Agent ${number}`, capabilities: [], endpoint: 'https://a.example/', ...document }
  return { number, status: 'active', record: readRecord('aidip', whole, `agent-${number}`) }
}

const TOPICS = [
  'Summarises long contracts and court rulings.',
  'Labels pictures by what they show.',
  'Tells how warm it will be tomorrow and whether it rains.',
  'Reads bills and enters them into the books.',
]

const createTopics = (): AgentIndex<IndexedAgent> => {
  const index = createAgentIndex<IndexedAgent>({ encoder })
  for (const [number, description] of TOPICS.entries()) index.put(agent(number, { description }))
  return index
}

const found = async (
  index: AgentIndex<IndexedAgent>,
  text: string,
  vectors: readonly Float32Array[] = [],
): Promise<number[]> => {
  const selection = { conditions: [], view: ({ record }: IndexedAgent) => record }
  const { ranked, total } = await index.search({ query: readQuery(text), vectors }, selection, { skip: 0, take: 10 })
  expect(total).toBe(ranked.length)
  return ranked.map(({ agent: { number } }) => number)
}

/** A model's vector with the given share of the first dimension. */
const modelVector = (share: number): Float32Array => {
  const vector = new Float32Array(MODEL_DIMENSIONS)
  vector.set([share, Math.sqrt(1 - share ** 2)])
  return vector
}

describe('static vectors', () => {
  it('find agents that share no word with the query as soon as they are put', async () => {
    const index = createTopics()
    expect((await found(index, 'legal agreements'))[0]).toBe(0)
    expect((await found(index, 'photo recognition'))[0]).toBe(1)
    expect((await found(index, 'temperature forecast'))[0]).toBe(2)
    expect((await found(index, 'payments and receipts'))[0]).toBe(3)
  })

  it('follow the text of an agent, and disappear with it', async () => {
    const index = createTopics()
    index.put(agent(0, { description: 'Tunes pianos and violins.' }))
    index.remove('agent-2')
    expect(await found(index, 'legal agreements')).not.toContain(0)
    expect((await found(index, 'musical instruments'))[0]).toBe(0)
    expect(await found(index, 'temperature forecast')).not.toContain(2)
  })

  it('do not represent private members, whose content a hit would reveal', async () => {
    const index = createAgentIndex<IndexedAgent>({ encoder })
    const assistant = { description: 'Assists.', tags: ['weather', 'rain'] }
    index.put(agent(1, { ...assistant, private: ['tags'] }))
    index.put(agent(2, assistant))
    expect(await found(index, 'storms and snow')).toEqual([2])
  })

  it('are used for agents that the model has not embedded yet, beside those that it has', async () => {
    const index = createTopics()
    index.setDimensions(MODEL_DIMENSIONS)
    for (const number of [0, 1, 3]) index.putVectors(number, packVectors([modelVector(0)]))
    expect(await found(index, 'temperature forecast', [modelVector(1)])).toEqual([2])
  })

  it('do not find more because an agent that the caller does not see waits for the model', async () => {
    const index = createAgentIndex<IndexedAgent>({ encoder, rerankLimit: 1 })
    index.setDimensions(MODEL_DIMENSIONS)
    for (const [number, description] of TOPICS.entries()) {
      index.put(agent(number, { description }))
      index.putVectors(number, packVectors([modelVector(number === 1 ? 0.9 : 0.2)]))
    }
    index.put(agent(9, { description: 'Waits.', visibility: 'private' }))
    const text = { query: readQuery('temperature forecast'), vectors: [modelVector(1)] }
    const foundBy = async (view: (found: IndexedAgent) => IndexedAgent['record'] | undefined): Promise<number[]> =>
      (await index.search(text, { conditions: [], view }, { skip: 0, take: 10 })).ranked.map((hit) => hit.agent.number)
    expect(await foundBy(({ number, record }) => (number === 9 ? undefined : record))).toEqual([1])
    expect(await foundBy(({ record }) => record)).toEqual([1, 2])
  })

  it('give way to the model, which counts more', async () => {
    const index = createTopics()
    index.setDimensions(MODEL_DIMENSIONS)
    for (const number of TOPICS.keys()) index.putVectors(number, packVectors([modelVector(number === 1 ? 0.9 : 0)]))
    expect((await found(index, 'temperature forecast', [modelVector(1)]))[0]).toBe(1)
  })

  it('show which part of an agent matches before the model has embedded it', async () => {
    const index = createAgentIndex<IndexedAgent>({ encoder })
    const operations = ['Converts currencies.', 'Forecasts the weather.'].map((description, i) => ({
      name: `run${i}`,
      description,
      inputs: {},
      outputs: {},
    }))
    const assistant = agent(1, { description: 'Assists.', operations })
    index.put(assistant)
    const [evidence] = await index.evidence({ query: readQuery('rain tomorrow'), vectors: [] }, [assistant])
    expect(evidence?.parts[0]?.part).toEqual({ kind: 'operation', name: 'run1' })
  })

  it('say nothing about a query in a script that they do not know', async () => {
    expect(await found(createTopics(), 'ხვალინდელი ამინდის პროგნოზი')).toEqual([])
  })
})
