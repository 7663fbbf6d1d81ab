import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../../server/test/support/directory.js'
import { aidipAgent } from '../../../server/test/support/documents.js'
import { createClient, type DirectoryClient } from '../../src/index.js'
import { codeOf, collect, fakeRetry, type Handler, sendJson, startPlainHost } from '../transports/support/agent-host.js'

let directory: TestDirectory
let agent: Awaited<ReturnType<typeof startPlainHost>>
let onCall: Handler
let publisher: DirectoryClient
let client: DirectoryClient

beforeAll(async () => {
  agent = await startPlainHost((seen, response) => onCall(seen, response))
  directory = await startDirectory()
  const { retry } = fakeRetry()
  const open = async (subject: string, ...scopes: string[]): Promise<DirectoryClient> =>
    createClient({
      baseUrl: directory.url,
      token: await directory.makeKey({ subject, scopes }),
      retry: { ...retry, sleep: pause },
    })
  publisher = await open('publisher', 'publish', 'discover')
  client = await open('client', 'discover', 'invoke')
  await publisher.register(
    aidipAgent({
      id: 'echo',
      endpoint: `${agent.url}/echo`,
      version: '2.1.0',
      description: 'Repeats what it is told.',
    }),
  )
})
afterAll(async () => {
  await directory.close()
  await agent.close()
})
beforeEach(() => {
  agent.seen.length = 0
  onCall = ({ json }, response) => sendJson(response, 200, { text: json.text })
})

/** Long enough for the directory to act, short enough for a test. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50))

describe('calls through a real directory', () => {
  it('invokes, and returns the agent’s version', async () => {
    const reply = await client.invoke('echo', { text: 'hi' }, { requestId: 'r-1' })
    expect(reply).toMatchObject({ output: { text: 'hi' }, version: '2.1.0', requestId: 'r-1' })
    expect(agent.seen[0]?.headers).not.toHaveProperty('authorization')
  })

  it.each(['', '/v0'])('AIDIP00-3-03 has the same result as a direct call, with the base path "%s"', async (base) => {
    const token = await directory.makeKey({ subject: 'client', scopes: ['discover', 'invoke'] })
    const both = createClient({ baseUrl: directory.url + base, token })
    for (const text of ['hi', 'ÿ\u{1f600} "quoted"', '']) {
      agent.seen.length = 0
      const through = await both.invoke('echo', { text })
      const direct = await both.invoke('echo', { text }, { mode: 'direct', httpLoopback: true })
      expect(through).toMatchObject({ status: 200, output: { text } })
      expect(direct).toMatchObject({ status: through.status, output: through.output })
      // One call came through the gateway, which adds Via, and one from the client.
      expect(agent.seen.map(({ headers, json }) => [headers.via !== undefined, json])).toEqual([
        [true, { text }],
        [false, { text }],
      ])
    }
  })

  it('AIDIP00-7-06 returns outputs as untrusted: never evaluated, and marked if they do not match the schema', async () => {
    const output = { text: 'globalThis.wasRun = true', toString: 'globalThis.wasRun = true' }
    onCall = (_seen, response) => sendJson(response, 200, output)
    expect(await client.invoke('echo', { text: 'x' })).toMatchObject({ trusted: false, output })
    expect('wasRun' in globalThis).toBe(false)
    onCall = (_seen, response) => sendJson(response, 200, { text: 5 })
    const wrong = await client.invoke('echo', { text: 'x' })
    expect(wrong).toMatchObject({ trusted: false, output: { text: 5 }, outputValid: false })
  })

  it('AIDIP00-7-06 checks the directory’s marks, not the publisher’s claims', async () => {
    await publisher.register(
      aidipAgent({
        id: 'boaster',
        endpoint: `${agent.url}/boaster`,
        certification: { verified: true },
        quality_score: 5,
      }),
    )
    const call = (policy: object) => client.invoke('boaster', { text: 'x' }, policy)
    expect(await codeOf(call({ requireCertified: true }))).toBe('permission_denied')
    expect(await codeOf(call({ minQuality: 4 }))).toBe('permission_denied')
    expect(agent.seen).toEqual([])
    const body = { verification: 'verified', quality_score: 4.5 }
    expect((await directory.patch('/admin/agents/boaster', { as: 'admin', body })).status).toBe(200)
    expect((await call({ requireCertified: true, minQuality: 4 })).status).toBe(200)
    expect(await codeOf(call({ minQuality: 4.6 }))).toBe('permission_denied')
  })

  it('streams to the end mark', async () => {
    onCall = (_seen, response) =>
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end('{"text":"a"}\n{"text":"b"}\n')
    const parts = await collect(client.stream('echo', { text: 'hi' }))
    expect(parts.map(({ data }) => data)).toEqual([{ text: 'a' }, { text: 'b' }])
  })

  it('throws the error that interrupts a stream', async () => {
    onCall = (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write('{"text":"a"}\n', () => response.destroy())
    }
    expect(await codeOf(collect(client.stream('echo', { text: 'hi' })))).toBe('remote_error')
  })

  it('waits for deferred responses', async () => {
    const reply = await client.invoke('echo', { text: 'later' }, { respondAsync: true, sessionId: 's1' })
    expect(reply.output).toEqual({ text: 'later' })
    expect(reply.taskId).toEqual(expect.any(String))
  })

  it('runs a call with an idempotency key once', async () => {
    const options = { idempotencyKey: 'once' }
    const [first, second] = [
      await client.invoke('echo', { text: 'x' }, options),
      await client.invoke('echo', { text: 'x' }, options),
    ]
    expect(second.output).toEqual(first.output)
    expect(agent.seen).toHaveLength(1)
  })

  it('reports errors of the directory and of the agent by code', async () => {
    await expect(client.invoke('echo', { wrong: 1 })).rejects.toMatchObject({ code: 'invalid_input', status: 400 })
    expect(await codeOf(client.invoke('nobody', {}))).toBe('not_found')
    expect(await codeOf(publisher.invoke('echo', { text: 'x' }))).toBe('permission_denied')
    expect(await codeOf(client.invoke('echo', { text: 'x' }, { version: '9.9.9' }))).toBe('not_found')
    expect(await codeOf(client.invoke('echo', { text: 'x' }, { accept: 'application/fipa-acl' }))).toBe(
      'not_acceptable',
    )
    onCall = (_seen, response) => sendJson(response, 500, { oops: true })
    expect(await codeOf(client.invoke('echo', { text: 'x' }))).toBe('remote_error')
  })

  it('passes the id of a search on to a call and to feedback, but not to the agent', async () => {
    const sent: (string | null)[] = []
    const spied = createClient({
      baseUrl: directory.url,
      token: await directory.makeKey({ subject: 'client', scopes: ['discover', 'invoke'] }),
      fetch: (input, init) => {
        sent.push(new Headers(init?.headers).get('x-search-id'))
        return fetch(input, init)
      },
    })
    const { searchId } = await spied.search('repeats what it is told')
    expect(searchId).toMatch(/^[\w-]{50,}$/)
    expect((await spied.search({ query: 'repeats what it is told', skip: 0 })).searchId).toBe(searchId)
    expect((await spied.discover('repeats what it is told')).searchId).toBe(searchId)
    sent.length = 0
    const options = searchId === undefined ? {} : { searchId }
    await spied.invoke('echo', { text: 'hi' }, options)
    await spied.feedback('echo', { rating: 5 }, options)
    await spied.invoke('echo', { text: 'hi' })
    expect(sent).toEqual([searchId, searchId, null])
    expect(agent.seen[0]?.headers).not.toHaveProperty('x-search-id')
    expect((await spied.search({ filters: { tags: ['x'] } })).searchId).toBeUndefined()
  })

  it('explains why agents were found, the same in a search and in a discovery', async () => {
    const query = 'repeats what it is told'
    const [searched] = (await client.search({ query, explain: true })).agents
    const [discovered] = (await client.discover({ query, include_evidence: true })).candidates
    const { explanation = [], snippets, matchedWords, components } = searched?.evidence ?? {}
    expect(discovered?.evidence).toMatchObject({ explanation, snippets, matchedWords, components })
    expect(explanation.reduce((sum, { value }) => sum + value, 0)).toBeCloseTo(searched?.score ?? 0, 10)
    expect(explanation[0]).toMatchObject({ component: 'words', text: 'repeats, told' })
    expect(snippets).toEqual(['Repeats what it is told.'])
    expect((await client.search(query)).agents[0]).not.toHaveProperty('evidence')
  })

  it('resolves an intent, and sends feedback', async () => {
    const [first] = await client.resolve({ intent: 'repeat what it is told', top: 3 })
    expect(first).toMatchObject({ id: 'echo', invocation: { method: 'POST' } })
    expect(first?.endpoints[0]).toMatch(/^http/)
    await client.feedback('echo', { rating: 5 })
    expect(await codeOf(client.feedback('echo', { rating: 9 }))).toBe('invalid_input')
  })
})
