import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register, registerAll, search } from '../aidip/requests.js'
import { discover, profileAgent, publish } from '../profile/publish.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'

/** For each agent its description, and a query that shares no word with it. */
const TOPICS = [
  { id: 'law', description: 'Summarises long contracts and court rulings.', query: 'legal agreements' },
  { id: 'pictures', description: 'Labels pictures by what they show.', query: 'photo recognition' },
  { id: 'weather', description: 'Tells how warm it gets and whether it rains.', query: 'temperature forecast' },
  { id: 'money', description: 'Reads bills and enters them into the books.', query: 'payments and receipts' },
]
const documents = TOPICS.map(({ id, description }) => aidipAgent({ id, name: id, description }))

/** A model that accepts every request and never responds. */
let model: Server
let directory: TestDirectory
beforeAll(async () => {
  model = createServer(() => undefined)
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))
  const { port } = model.address() as AddressInfo
  directory = await startDirectory({
    search: { embedder: { url: `http://127.0.0.1:${port}/v1`, model: 'm', languages: ['en'] }, embedTimeoutMs: 50 },
  })
})
afterAll(async () => {
  await directory.close()
  model.closeAllConnections()
  model.close()
})

const pending = async (): Promise<number> => (await directory.get('/health/ready')).json.index.pending

describe('with a model that never responds', () => {
  it('PROF-6.1-05 an agent is found by meaning when its registration is acknowledged', async () => {
    for (const { id, description, query } of TOPICS) {
      await register(directory, aidipAgent({ id, name: id, description }))
      expect((await search(directory, { query }))[0]).toBe(id)
    }
    expect(await pending()).toBe(documents.length)
  })

  it('PROF-7.2-03 responses say that the ranking is less precise, and evidence names the matching example', async () => {
    const examples = [{ id: 'e1', text: 'Who owes me for the shared taxi?' }]
    await publish(directory, profileAgent({ id: 'dm', name: 'Nine', description: 'Assists.', examples }))
    const request = { query: 'split the cost of a cab ride', include_evidence: true }
    const { candidates, warnings } = await discover(directory, request)
    expect(candidates[0]).toMatchObject({ id: 'dm', matched_examples: [{ id: 'e1' }] })
    expect(warnings).toContain('the embedding model is not responding; the ranking is less precise')
  })

  it('imported agents are found by meaning when the import ends, and again after a restart', async () => {
    await directory.clear()
    await registerAll(directory, documents)
    const ids = TOPICS.map(({ id }) => id)
    const firsts = () => Promise.all(TOPICS.map(async ({ query }) => (await search(directory, { query }))[0]))
    expect(await firsts()).toEqual(ids)
    await directory.restart()
    await expect.poll(firsts, { timeout: 30_000 }).toEqual(ids)
    expect(await pending()).toBe(documents.length)
  })
})

describe('the setting search.embedder', () => {
  it('"static" searches by meaning without a model, "none" by words only', async () => {
    await directory.restart({ search: { embedder: 'static' } })
    const query = 'temperature forecast'
    await expect.poll(async () => (await search(directory, { query }))[0], { timeout: 10_000 }).toBe('weather')
    expect(await pending()).toBe(0)
    const { headers } = await directory.post('/agents/search', { body: { query } })
    expect(headers.get('x-switchboard-warnings')).toBeNull()
    await directory.restart({ search: { embedder: 'none' } })
    await expect.poll(() => search(directory, { query: 'bills' }), { timeout: 10_000 }).toEqual(['money'])
    expect(await search(directory, { query })).toEqual([])
  })
})
