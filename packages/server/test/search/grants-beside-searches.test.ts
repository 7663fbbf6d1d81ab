import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestCaller, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { settle } from './settle.js'

/** A query for each test: the vectors of one are kept. */
const QUERIES = { granted: 'weather forecast', revoked: 'forecasts of the weather' }

/** An embedding endpoint that responds to the query when it is told to. */
const server = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  const { input }: { input: string[] } = JSON.parse(text)
  if (Object.values(QUERIES).some((query) => input.includes(query)))
    await new Promise<void>((resolve) => server.emit('asked', resolve))
  response.end(JSON.stringify({ data: input.map((_, index) => ({ index, embedding: [1, 0.1] })) }))
})

let directory: TestDirectory
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const embedder = { url: `http://127.0.0.1:${port}/v1`, model: 'any', key: 'any' }
  directory = await startDirectory({ search: { embedder } })
})
afterAll(async () => {
  await directory.close()
  server.close()
})

const search = async (as: TestCaller, query: string) => {
  const { json, headers } = await directory.post('/agents/search', { as, body: { query } })
  return { ids: json.map(({ id }: { id: string }) => id).toSorted(), total: Number(headers.get('x-total-count')) }
}
const grant = async (): Promise<string> => {
  const body = { subject: 'tokB', agent: 'secret', scopes: ['discover'] }
  return (await directory.post('/admin/grants', { as: 'admin', body })).json.id
}

/** What a caller finds if something changes after the search has begun. */
async function searchDuring(as: TestCaller, query: string, change: () => Promise<unknown>) {
  const asked = once(server, 'asked')
  const result = search(as, query)
  const [respond] = await asked
  await change()
  respond()
  return await result
}

describe('a grant that changes while a search is made', () => {
  beforeEach(async () => {
    await directory.clear()
    for (const [id, visibility] of Object.entries({ open: 'public', secret: 'private' })) {
      const body = aidipAgent({ id, name: id, description: 'Forecasts the weather.', visibility })
      expect((await directory.post('/agents', { as: 'tokA', body })).status).toBe(201)
    }
    await settle(directory)
  })

  it('shows nothing to those who see what the caller saw before, not even how many there are', async () => {
    expect(await searchDuring('tokB', QUERIES.granted, grant)).toEqual({ ids: ['open', 'secret'], total: 2 })
    expect(await search('anon', QUERIES.granted)).toEqual({ ids: ['open'], total: 1 })
    expect(await search('tokC', QUERIES.granted)).toEqual({ ids: ['open'], total: 1 })
  })

  it('hides nothing from those who still see what the caller no longer does', async () => {
    const id = await grant()
    const revoke = () => directory.delete(`/admin/grants/${id}`, { as: 'admin' })
    expect(await searchDuring('tokB', QUERIES.revoked, revoke)).toEqual({ ids: ['open'], total: 1 })
    expect(await search('tokA', QUERIES.revoked)).toEqual({ ids: ['open', 'secret'], total: 2 })
    expect(await search('tokB', QUERIES.revoked)).toEqual({ ids: ['open'], total: 1 })
  })
})
