import { readRecord } from '@switchboard/protocol'
import {
  type AgentIndex,
  builtInStaticEncoder,
  createAgentIndex,
  type IndexedAgent,
  NumberSet,
  packVectors,
  readQuery,
  type TextEngine,
} from '@switchboard/search'
import { afterEach, expect, it } from 'vitest'

export const DIMENSIONS = 128

/** An agent with the version of its text. */
export interface TestAgent extends IndexedAgent {
  readonly textVersion: number
}
export const versionOf = ({ textVersion }: TestAgent): number => textVersion

export const agent = (number: number, description: string, more = {}, textVersion = 1): TestAgent => {
  const document = { name: `Agent ${number}`, description, capabilities: [], endpoint: 'https://a.example/', ...more }
  return { number, status: 'active', record: readRecord('aidip', document, `agent-${number}`), textVersion }
}

export const AGENTS = [
  agent(1, 'Translates contracts into Chinese.', { languages: ['zh'] }),
  agent(2, 'Tells how warm it will be tomorrow and whether it rains.'),
  agent(3, 'Converts PDF invoices into spreadsheets.'),
  agent(4, 'Converts spreadsheets into PDF invoices.'),
  agent(5, '提供天气预报', { name: '天气' }),
  agent(6, 'Translates contracts into Chinese, for members.', { visibility: 'private' }),
  ...Array.from({ length: 30 }, (_, i) =>
    agent(10 + i, `Plays chess and music, variant ${i}.`, { tags: [`t${i % 3}`] }),
  ),
]

export const QUERIES = [
  'translate a contract to Chinese',
  'turn a PDF invoice into a spreadsheet',
  'Wettervorhersage für morgen',
  'chess musik',
  'Play chess. Translate my contracts into Chinese.',
  'zzqqxx',
]

const view = ({ record }: TestAgent) => record

/** What a caller gets for a text, with all that the engine decides. */
export async function find(index: AgentIndex<TestAgent>, text: string, { skip = 0, take = 10 } = {}) {
  const { query, corrections, unknown } = await index.read(text, { privateAgents: [6] })
  const vectors = [new Float32Array(DIMENSIONS).fill(1 / Math.sqrt(DIMENSIONS))]
  const found = await index.search(
    { query, vectors },
    { conditions: [], view },
    {
      skip,
      take,
      all: true,
      scoreFactor: ({ number }) => 1 - number / 1000,
      boost: ({ number }) => (number === 12 ? 0.5 : 0),
    },
  )
  const agents = found.ranked.map((hit) => hit.agent)
  return {
    hits: found.ranked.map(({ agent: { number }, ...hit }) => ({ number, ...hit })),
    total: found.total,
    matches: found.matches.map(({ number }) => number).sort((a, b) => a - b),
    evidence: await index.evidence({ query, vectors }, agents),
    corrections,
    suggestions: await index.suggest(unknown),
  }
}

export const vectorsOf = (number: number): Uint8Array =>
  packVectors([new Float32Array(DIMENSIONS).fill(number % 2 ? 0.1 : -0.1)])

export const fill = (index: AgentIndex<TestAgent>): void => {
  index.setDimensions(DIMENSIONS)
  for (const each of AGENTS) index.put(each)
  for (const { number } of AGENTS.slice(0, 3)) index.putVectors(number, vectorsOf(number))
}

/** An index in this thread, with the built-in static embedding. */
export const localIndex = (): AgentIndex<TestAgent> => createAgentIndex({ encoder: builtInStaticEncoder() })

/** More than the engines name one by one. */
const MANY = 2500

/** What every text engine does. `open` opens an empty one, with the built-in static embedding. */
export function testEngine(open: () => Promise<TextEngine> | TextEngine): void {
  const engines: TextEngine[] = []
  const openIndex = async (): Promise<AgentIndex<TestAgent>> => {
    const engine = await open()
    engines.push(engine)
    return createAgentIndex({ engine, versionOf })
  }
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close()
  })

  it('finds the same as a search in the same thread', async () => {
    const [index, local] = [await openIndex(), localIndex()]
    for (const each of [index, local]) {
      fill(each)
      each.put(agent(2, 'Forecasts the weather.', {}, 2))
      each.remove('agent-11')
    }
    for (const text of QUERIES) {
      const found = await find(index, text)
      expect(found).toEqual(await find(local, text))
      expect(found.total).toBe(found.matches.length)
    }
    expect(await find(index, 'chess', { skip: 20, take: 5 })).toEqual(await find(local, 'chess', { skip: 20, take: 5 }))
  })

  it('finds every agent that was put before the search began, while others are put', async () => {
    const index = await openIndex()
    const found = Array.from({ length: 200 }, (_, i) => {
      index.put(agent(i, `word${i} shared`))
      return find(index, `word${i}`)
    })
    for (const [i, { hits }] of (await Promise.all(found)).entries()) expect(hits[0]?.number).toBe(i)
  })

  it('finds what an agent says now, and nothing of one that was removed', async () => {
    const index = await openIndex()
    index.put(agent(1, 'juggles oranges'))
    index.put(agent(2, 'juggles lemons'))
    index.put(agent(1, 'peels oranges', {}, 2))
    index.remove('agent-2')
    expect((await find(index, 'juggles')).matches).toEqual([])
    expect((await find(index, 'lemons')).suggestions).toEqual([])
    expect((await find(index, 'oranges')).matches).toEqual([1])
  })

  it('takes nothing from private agents: neither scores nor spelling', async () => {
    const index = await openIndex()
    fill(index)
    const query = readQuery('chess on a xylophone')
    const search = async () => {
      const selection = { conditions: [], view, privateAgents: () => [] }
      const { ranked, total } = await index.search({ query, vectors: [] }, selection, { skip: 0, take: 10 })
      return { total, hits: ranked.map(({ agent: { number }, ...hit }) => ({ number, ...hit })) }
    }
    const before = await search()
    for (const number of [50, 51, 52]) index.put(agent(number, 'Chess on a xylophone.', { visibility: 'private' }))
    expect(await search()).toEqual(before)
    expect((await index.read('chess xylophon')).corrections).toEqual([])
    expect(await index.suggest(['xylophon'])).toEqual([])
    // Callers who see one may search for its words as they are.
    expect((await index.read('xylophone', { privateAgents: [50] })).unknown).toEqual([])
    expect((await index.read('xylophone', { privateAgents: [1] })).unknown).toEqual(['xylophone'])
  })

  it('finds only accepted agents, and as many as there are, at any selectivity', { timeout: 60_000 }, async () => {
    const engine = await open()
    engines.push(engine)
    const index = createAgentIndex({ engine, versionOf })
    for (let number = 0; number < MANY; number++)
      index.put(agent(number, `Plays chess in the ${number % 100 === 7 ? 'kitchen' : 'hall'}, variant ${number}.`))
    await engine.settled()
    const query = readQuery('play chess in the kitchen')
    const numbers = Array.from({ length: MANY }, (_, number) => number)
    const selections = {
      none: [],
      few: [7, 107, 2203],
      some: numbers.filter((number) => number % 50 === 7),
      most: numbers.filter((number) => number % 100 !== 7 && number > 200),
      'nearly all': numbers.filter((number) => number !== 107),
      all: numbers,
    }
    for (const [name, selected] of Object.entries(selections)) {
      const accepted = new NumberSet(selected)
      const window = { accepted, skip: 0, take: 100, all: true }
      const found = await engine.search(query, [], window, () => ({ publishers: [] }))
      expect([name, found.total]).toEqual([name, selected.length])
      expect([...found.all].sort((a, b) => a - b)).toEqual(selected)
      // By vectors alone, of which those of the agents that are left out are as near.
      const named = readQuery('checkers')
      const near = await engine.search(named, [], { accepted, skip: 0, take: 100 }, () => ({ publishers: [] }))
      expect(near.hits.length).toBeGreaterThanOrEqual(Math.min(50, selected.length))
      expect(near.hits.every(({ number }) => accepted.has(number))).toBe(true)
      const everything = { accepted, skip: 0, take: Number.POSITIVE_INFINITY }
      const { hits } = await engine.search(query, [], everything, () => ({ publishers: [] }))
      expect(hits.map(({ number }) => number).sort((a, b) => a - b)).toEqual(selected)
      expect(found.hits.length).toBe(Math.min(100, selected.length))
      expect(found.hits.every(({ number }) => accepted.has(number))).toBe(true)
      const inKitchen = selected.filter((number) => number % 100 === 7).length
      expect(found.hits.filter(({ number }) => number % 100 === 7)).toHaveLength(inKitchen)
    }
  })
}
