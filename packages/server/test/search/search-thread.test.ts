import { Worker } from 'node:worker_threads'
import { startSearchThread } from '@switchboard/search'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { settle } from './settle.js'

const PROGRAM = new URL('../../../search/dist/engine/search-thread.js', import.meta.url)

/** The threads that were started, the last one at the end. */
const workers: Worker[] = []
let directory: TestDirectory
beforeAll(async () => {
  const searchThread = startSearchThread(() => {
    const worker = new Worker(PROGRAM)
    workers.push(worker)
    return worker
  })
  directory = await startDirectory({ search: { engine: 'memory', embedder: 'static' } }, { searchThread })
})
afterAll(() => directory.close())

const register = async (position: number): Promise<void> => {
  const body = aidipAgent({
    id: `agent-${position}`,
    name: `Agent ${position}`,
    description: `Does task${position} well.`,
  })
  expect((await directory.post('/agents', { as: 'tokA', body })).status).toBe(201)
}
const search = (query: string) => directory.post('/agents/search?shape=object', { body: { query } })
const isFound = async (position: number): Promise<boolean> => {
  const { json } = await search(`task${position}`)
  return json.results.some(({ id }: { id: string }) => id === `agent-${position}`)
}

describe('a search thread that is killed', () => {
  it('starts again: no request fails, responses say that agents are missing, and soon none is', async () => {
    for (let position = 0; position < 30; position++) await register(position)
    const searches = Array.from({ length: 20 }, () => search('Does tasks well'))
    const registrations = [30, 31, 32].map(register)
    await workers.at(-1)?.terminate()
    const responses = await Promise.all(searches)
    await Promise.all(registrations)
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(workers).toHaveLength(2)
    for (const { json } of responses) {
      const isIncomplete = json.warnings?.some((warning: string) => warning.includes('the index is still being built'))
      expect(isIncomplete === true || json.count >= 30).toBe(true)
    }
    await settle(directory)
    for (const position of [0, 29, 30, 31, 32]) expect(await isFound(position)).toBe(true)
  })

  it('gets 503 for searches by text while it stops again and again; everything else works', async () => {
    await workers.at(-1)?.terminate()
    await workers.at(-1)?.terminate()
    const refused = await search('task1')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(refused.json.error.message).toBe('search by text is not available at the moment: try again later')
    expect((await directory.get('/agents/agent-1')).status).toBe(200)
    await register(40)
    await expect.poll(async () => (await search('task1')).status, { timeout: 10_000 }).toBe(200)
    await settle(directory)
    for (const position of [1, 40]) expect(await isFound(position)).toBe(true)
  })
})
