import {
  builtInStaticEncoder,
  createAgentIndex,
  createDatabaseEngine,
  NumberSet,
  readQuery,
  type TextEngine,
} from '@switchboard/search'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import {
  AGENTS,
  agent,
  DIMENSIONS,
  fill,
  find,
  testEngine,
  vectorsOf,
  versionOf,
} from '../../../search/test/engine-suite.js'
import { openTextTables } from '../../src/store/postgres/text-tables.js'
import { search } from '../aidip/requests.js'
import { NO_VECTOR, testVectorDatabase } from '../postgres.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { startPostgresServer } from '../support/postgres-server.js'

const database = await testVectorDatabase()
const url = database?.url ?? ''
afterAll(() => database?.drop())

const encoder = builtInStaticEncoder()
const openOn = async (place: string): Promise<TextEngine> =>
  createDatabaseEngine(await openTextTables(place), { encoder })

/** Runs a statement; returns its rows. */
async function sql(statement: string, place = url): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: place })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** A schema of its own, so that each index starts empty. */
let schemas = 0
async function emptyPlace(): Promise<string> {
  const name = `s${++schemas}`
  await sql(`CREATE EXTENSION IF NOT EXISTS vector SCHEMA public; CREATE SCHEMA ${name}`)
  const place = new URL(url)
  place.searchParams.set('options', `-c search_path=${name},public`)
  return place.href
}

describe.skipIf(!database)(database ? 'a text engine in PostgreSQL' : `a text engine, ${NO_VECTOR}`, () => {
  testEngine(async () => openOn(await emptyPlace()))

  const engines: TextEngine[] = []
  const open = async (place: string): Promise<TextEngine> => {
    const engine = await openOn(place)
    engines.push(engine)
    return engine
  }
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close()
  })

  it('holds what was indexed when it is opened again, and is told only what has changed since', async () => {
    const place = await emptyPlace()
    const engine = await openOn(place)
    const index = createAgentIndex({ engine, versionOf })
    fill(index)
    const before = await find(index, 'play chess')
    await engine.close()
    const puts: number[] = []
    const again = await open(place)
    const counting: TextEngine = {
      ...again,
      put(number, ...rest) {
        puts.push(number)
        again.put(number, ...rest)
      },
    }
    const second = createAgentIndex({ engine: counting, versionOf })
    second.setDimensions(DIMENSIONS)
    const changed = agent(3, 'Sings.', {}, 2)
    for (const each of AGENTS) if (each.number !== 4) second.put(each.number === 3 ? changed : each, 'later')
    await second.adopt()
    expect(second.deferred).toBe(1)
    await second.indexDeferred(10)
    expect(puts).toEqual([3])
    const numbersOf = ({ hits }: typeof before) => hits.map(({ number }) => number)
    expect(numbersOf(await find(second, 'play chess'))).toEqual(numbersOf(before))
    const [held] = await sql(`SELECT content FROM text_contents WHERE number = 3`, place)
    expect(String(held?.content)).toContain('Sings.')
    expect(await sql('SELECT number FROM text_agents WHERE number = 4', place)).toEqual([])
    // The vectors of the former text are gone.
    expect(await sql('SELECT number FROM text_embedded ORDER BY number', place)).toEqual([
      { number: '1' },
      { number: '2' },
    ])
  })

  it('is one index for several processes, which all report the same changes', async () => {
    const place = await emptyPlace()
    const engine = await open(place)
    const [one, two] = [
      createAgentIndex({ engine, versionOf }),
      createAgentIndex({ engine: await open(place), versionOf }),
    ]
    for (const index of [one, two]) index.setDimensions(DIMENSIONS)
    one.put(agent(1, 'Juggles oranges.'))
    await engine.settled()
    two.put(agent(1, 'Juggles oranges.'))
    two.put(agent(2, 'Peels oranges.'))
    const found = await find(two, 'orangs')
    expect(found.matches).toEqual([1, 2])
    one.put(agent(2, 'Peels oranges.'))
    expect(await find(one, 'orangs')).toEqual(found)
    two.putVectors(2, vectorsOf(2))
    await find(two, 'oranges')
    one.putVectors(2, vectorsOf(2))
    expect(await find(one, 'oranges')).toEqual(await find(two, 'oranges'))
    const [counts] = await sql('SELECT agents, public_agents FROM text_index', place)
    expect(counts).toEqual({ agents: '2', public_agents: '2' })
    // Both know the words; when one removes the agents, the other must not suggest them.
    one.remove('agent-1')
    one.remove('agent-2')
    await engine.settled()
    const { corrections } = await two.read('orangs')
    expect(corrections.some(({ to }) => to === 'oranges')).toBe(false)
    expect(await two.suggest(['orangs'])).not.toContain('oranges')
    expect(await sql('SELECT FROM text_terms', place)).toEqual([])
    expect(await sql('SELECT FROM text_words', place)).toEqual([])
  })

  it('drops the vectors of a model with other dimensions, or of another model', async () => {
    const place = await emptyPlace()
    const engine = await open(place)
    const index = createAgentIndex({ engine, versionOf })
    fill(index)
    await engine.settled()
    expect(await sql('SELECT DISTINCT number FROM text_model ORDER BY 1', place)).toHaveLength(3)
    engine.setDimensions(DIMENSIONS)
    await engine.settled()
    expect(await sql('SELECT FROM text_embedded', place)).toHaveLength(3)
    engine.setDimensions(DIMENSIONS, 'another')
    await engine.settled()
    expect(await sql('SELECT FROM text_embedded', place)).toEqual([])
    index.putVectors(1, vectorsOf(1))
    engine.setDimensions(256, 'another')
    await engine.settled()
    expect(await sql('SELECT FROM text_embedded', place)).toEqual([])
    const window = { accepted: new NumberSet([1, 2, 3]), skip: 0, take: 10 }
    const found = await engine.search(readQuery('contracts'), [new Float32Array(256).fill(1)], window, () => ({
      publishers: [],
    }))
    expect(found.hits[0]?.number).toBe(1)
  })

  it('keeps vectors that arrive before the text of their agent', async () => {
    const place = await emptyPlace()
    const engine = await open(place)
    const index = createAgentIndex({ engine, versionOf })
    index.setDimensions(DIMENSIONS)
    index.put(agent(1, 'Juggles oranges.'), 'later')
    index.putVectors(1, vectorsOf(1))
    await engine.settled()
    await index.indexDeferred(10)
    expect(await sql('SELECT number FROM text_agents JOIN text_embedded USING (number)', place)).toHaveLength(1)
  })

  it('writes agents with very many texts without holding up the others', async () => {
    const engine = await open(await emptyPlace())
    const index = createAgentIndex({ engine, versionOf })
    const skills = Array.from({ length: 2000 }, (_, i) => ({ name: `skill${i}`, description: `Juggles ${i} oranges.` }))
    for (let number = 1; number <= 5; number++) index.put(agent(number, 'Juggles.', { capabilities: skills }))
    index.put(agent(6, 'Peels lemons.'))
    expect((await find(index, 'lemons')).hits[0]?.number).toBe(6)
    expect((await find(index, 'juggles')).total).toBe(5)
  })

  it('needs the extension vector, and says how to get it', async () => {
    await sql('CREATE ROLE plain LOGIN')
    await sql('CREATE DATABASE plain OWNER plain')
    const place = new URL(url)
    place.pathname = '/plain'
    place.username = 'plain'
    try {
      await expect(startDirectory({ database: place.href, search: { engine: 'postgres' } })).rejects.toMatchObject({
        name: 'ConfigError',
        message: expect.stringMatching(
          /search\.engine "postgres": the extension vector cannot be created .* install pgvector 0\.8/,
        ),
      })
    } finally {
      await sql('DROP DATABASE plain WITH (FORCE)')
      await sql('DROP ROLE plain')
    }
  })
})

describe.skipIf(!database)(database ? 'a directory that searches in PostgreSQL' : `a directory, ${NO_VECTOR}`, () => {
  const directories: TestDirectory[] = []
  const start = async (place: string): Promise<TestDirectory> => {
    const directory = await startDirectory({ database: place, search: { engine: 'postgres', embedder: 'static' } })
    directories.push(directory)
    return directory
  }
  afterEach(async () => {
    for (const directory of directories.splice(0)) await directory.close()
  })

  it('finds a registration on the replica that took it at once, and soon on the others', async () => {
    const place = await emptyPlace()
    const [one, two] = [await start(place), await start(place)]
    for (let i = 0; i < 10; i++) {
      const id = `juggler-${i}`
      const body = aidipAgent({ id, description: `Juggles number ${i}.` })
      expect((await one.post('/agents', { as: 'tokA', body })).status).toBe(201)
      expect(await search(one, { query: `juggle number ${i}` })).toContain(id)
      await expect.poll(() => search(two, { query: `juggle number ${i}` })).toContain(id)
    }
    await one.delete('/agents/juggler-3', { as: 'tokA' })
    expect(await search(one, { query: 'juggle' })).not.toContain('juggler-3')
    await expect.poll(() => search(two, { query: 'juggle' })).not.toContain('juggler-3')
    await one.restart()
    expect(await search(one, { query: 'juggle' })).toHaveLength(9)
  })

  it('answers 503 to searches while the database is unreachable, and loses nothing', async () => {
    const server = await startPostgresServer()
    if (!server) throw new Error('PostgreSQL was there a moment ago')
    try {
      const engine = await openOn(server.url)
      const index = createAgentIndex({ engine, versionOf })
      index.put(agent(1, 'Juggles oranges.'))
      await engine.settled()
      await server.stop('fast')
      index.put(agent(2, 'Juggles lemons.'))
      await expect(find(index, 'juggles')).rejects.toMatchObject({ name: 'SearchError', code: 'unavailable' })
      await server.start()
      await expect.poll(async () => (await find(index, 'juggles').catch(() => undefined))?.matches).toEqual([1, 2])
      await engine.close()
    } finally {
      await server.remove()
    }
  })
})

it('search.engine "postgres" needs a database', async () => {
  await expect(startDirectory({ database: undefined, search: { engine: 'postgres' } })).rejects.toMatchObject({
    name: 'ConfigError',
    message: 'search.engine "postgres" needs --database: the text index is in that database',
  })
})
