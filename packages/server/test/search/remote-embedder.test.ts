import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { register, search } from '../aidip/requests.js'
import { discover } from '../profile/publish.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { settle } from './settle.js'

/** An endpoint with OpenAI's API over real HTTP; its model knows two topics. */
interface Endpoint {
  readonly url: string
  readonly requests: { authorization: string | undefined; model: string; input: string[] }[]
  mode: 'works' | 'fails' | 'short' | 'no-json' | 'hangs'
  close(): void
}

const TOPICS = [/cat|kitten|feline/i, /rain|weather|forecast/i]

async function startEndpoint(): Promise<Endpoint> {
  const endpoint: Endpoint = { url: '', requests: [], mode: 'works', close: () => server.close() }
  const server: Server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { model, input } = JSON.parse(text)
    endpoint.requests.push({ authorization: request.headers.authorization, model, input })
    if (endpoint.mode === 'hangs') return
    if (request.url !== '/v1/embeddings' || endpoint.mode === 'fails') {
      response.writeHead(503).end()
      return
    }
    const data = input.map((each: string, index: number) => ({
      index,
      embedding: [...TOPICS.map((topic) => (topic.test(each) ? 1 : 0)), 0.1],
    }))
    const answer = JSON.stringify({ data: (endpoint.mode === 'short' ? data.slice(1) : data).reverse() })
    response.end(endpoint.mode === 'no-json' ? '<html>' : answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(endpoint, { url: `http://127.0.0.1:${port}/v1` })
}

let endpoint: Endpoint
let directory: TestDirectory
beforeAll(async () => {
  endpoint = await startEndpoint()
  directory = await startDirectory({
    search: { embedder: { url: endpoint.url, model: 'topics', key: 'key-of-the-endpoint' } },
  })
  await register(directory, aidipAgent({ id: 'pets', name: 'Pets', description: 'All about the kitten.' }))
  await register(directory, aidipAgent({ id: 'sky', name: 'Sky', description: 'All about the weather.' }))
  await settle(directory)
})
afterEach(() => {
  endpoint.mode = 'works'
})
afterAll(async () => {
  await directory.close()
  endpoint.close()
})

const warningsOf = async (query: string) => {
  const { status, headers } = await directory.post('/agents/search', { body: { query } })
  expect(status).toBe(200)
  return headers.get('x-switchboard-warnings')
}

describe('a remote embedding endpoint', () => {
  it('is called with model and key, and its vectors are assigned to the right texts', async () => {
    expect((await search(directory, { query: 'feline' }))[0]).toBe('pets')
    expect((await search(directory, { query: 'forecast' }))[0]).toBe('sky')
    for (const { model, authorization } of endpoint.requests)
      expect([model, authorization]).toEqual(['topics', 'Bearer key-of-the-endpoint'])
  })

  it.each(['fails', 'short', 'no-json'] as const)(
    'PROF-7.2-03 in mode %s does not break search, which then has a warning',
    async (mode) => {
      endpoint.mode = mode
      expect(await warningsOf(`kitten ${mode}`)).toContain('not responding')
      expect((await search(directory, { query: `kitten ${mode} again` }))[0]).toBe('pets')
      const { candidates, warnings } = await discover(directory, { query: `weather ${mode}` })
      expect([candidates[0].id, warnings[0]]).toEqual(['sky', expect.stringContaining('not responding')])
    },
  )

  it('PROF-7.2-03 that hangs does not hold up searches, which do without it and say so', async () => {
    await directory.restart({ search: { embedder: { url: endpoint.url, model: 'topics' }, embedTimeoutMs: 300 } })
    await settle(directory)
    endpoint.mode = 'hangs'
    endpoint.requests.length = 0
    const started = performance.now()
    for (let i = 0; i < 20; i++) expect(await warningsOf(`kitten number ${i}`)).toContain('not responding')
    // Only the first search waited, and only its query was sent.
    expect(performance.now() - started).toBeLessThan(5000)
    expect(endpoint.requests).toHaveLength(1)
    endpoint.mode = 'works'
    await directory.restart()
    await settle(directory)
  })

  it('PROF-6.1-05 catches up after an outage, and searches have a warning until then', async () => {
    endpoint.mode = 'fails'
    endpoint.requests.length = 0
    await register(directory, aidipAgent({ id: 'late', name: 'Late', description: 'All about cat food.' }))
    await expect.poll(() => endpoint.requests.length, { interval: 5 }).toBeGreaterThan(0)
    await sleep(50) // until the directory has the response
    endpoint.mode = 'works'
    expect(await warningsOf('feline nutrition')).toContain('still being embedded')
    await settle(directory)
    expect(await warningsOf('feline meals')).toBeNull()
    expect(await search(directory, { query: 'feline meals' })).toContain('late')
  })

  it('is not called again for stored embeddings after a restart', async () => {
    await directory.restart()
    endpoint.requests.length = 0
    await settle(directory)
    expect((await search(directory, { query: 'feline' }))[0]).toBe('pets')
    const embedded = endpoint.requests.flatMap(({ input }) => input)
    expect(embedded.filter((text) => text.includes('All about'))).toEqual([])
  })

  it('is called for new embeddings if the model changes', async () => {
    await directory.restart({ search: { embedder: { url: endpoint.url, model: 'topics-2' } } })
    endpoint.requests.length = 0
    await settle(directory)
    expect((await search(directory, { query: 'feline' }))[0]).toBe('pets')
    const embedded = endpoint.requests.flatMap(({ input }) => input)
    expect(embedded.filter((text) => text.includes('kitten')).length).toBeGreaterThan(0)
  })
})
