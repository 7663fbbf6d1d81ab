import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_POSTGRES, testDatabase } from '../postgres.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { settle } from './settle.js'

const database = await testDatabase()

/** An embedding endpoint that counts how often it has embedded each text. */
async function startEndpoint() {
  const embedded = new Map<string, number>()
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const input: string[] = JSON.parse(text).input
    for (const each of input) embedded.set(each, (embedded.get(each) ?? 0) + 1)
    response.end(JSON.stringify({ data: input.map((each, index) => ({ index, embedding: [each.length, 1, 0.1] })) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    embedded,
    close: () => server.close(),
  }
}

describe.skipIf(!database)(
  database ? 'embeddings of two servers on one PostgreSQL' : `embeddings, ${NO_POSTGRES}`,
  () => {
    let endpoint: Awaited<ReturnType<typeof startEndpoint>>
    const servers: TestDirectory[] = []
    const start = async (): Promise<TestDirectory> => {
      const embedder = { url: endpoint.url, model: 'lengths' }
      const server = await startDirectory({ database: database?.url ?? '', search: { embedder } })
      servers.push(server)
      return server
    }
    beforeAll(async () => {
      endpoint = await startEndpoint()
    })
    afterAll(async () => {
      await Promise.all(servers.map((server) => server.close()))
      endpoint.close()
      await database?.drop()
    })

    it('are made once, by either of them, and not again by one that starts later', async () => {
      const [one, two] = [await start(), await start()]
      const ids = Array.from({ length: 60 }, (_, i) => `agent-${i}`)
      const register = (id: string, i: number) =>
        (i % 2 ? one : two).post('/agents', {
          as: 'tokA',
          body: aidipAgent({ id, description: `Number ${i} of many` }),
        })
      for (const { status } of await Promise.all(ids.map(register))) expect(status).toBe(201)
      for (const server of [one, two]) {
        const known = async (): Promise<number> => (await server.get('/health/ready')).json.index.agents
        await expect.poll(known, { timeout: 5000 }).toBe(ids.length)
        await settle(server)
      }
      const timesOf = (): number[] => ids.map((_, i) => timesWith(`Number ${i} of many`))
      // A description may be part of several texts.
      const timesWith = (text: string): number =>
        Math.max(...[...endpoint.embedded].flatMap(([each, times]) => (each.includes(text) ? [times] : [])))
      expect(timesOf()).toEqual(ids.map(() => 1))
      const three = await start()
      await settle(three)
      expect(timesOf()).toEqual(ids.map(() => 1))
      expect(
        (await three.post('/agents/search', { body: { query: 'Number 7 of many' } })).headers.get(
          'x-switchboard-warnings',
        ),
      ).toBeNull()
    })
  },
)
