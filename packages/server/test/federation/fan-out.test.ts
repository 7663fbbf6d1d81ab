import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Settings } from '../../src/config/settings.js'
import type { PeerSettings } from '../../src/policy/federation.js'
import { startAgent } from '../invoke/agent.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { startOtlpReceiver } from '../telemetry/otlp-receiver.js'

let north: TestDirectory
let south: TestDirectory
let reader: TestDirectory
const servers: Server[] = []

/** So rarely that the reader has no copies of what is registered after its first pull. */
const NEVER = 86_400

beforeEach(async () => {
  ;[north, south] = await Promise.all([startDirectory(), startDirectory()])
})
afterEach(async () => {
  await Promise.all([north, south, reader].map((directory) => directory.close()))
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** Starts the reader, and waits until it has read from its peers for the first time. */
async function startReader(peers: readonly PeerSettings[], settings: Settings = {}): Promise<void> {
  reader = await startDirectory({
    ...settings,
    peers: peers.map((peer) => ({ trust: 'full', ...peer, intervalSeconds: NEVER })),
  })
  await vi.waitFor(
    async () => {
      const { json } = await reader.get('/admin/peers', { as: 'admin' })
      const wasRead = ({
        last_heard_at: heard,
        failures = 0,
      }: {
        last_heard_at?: string
        failures?: number
      }): boolean => heard !== undefined || failures > 0
      expect(json.peers.map(wasRead)).toEqual(peers.map(() => true))
    },
    { timeout: 20_000 },
  )
}

const register = (directory: TestDirectory, id: string, changes = {}) =>
  directory.post('/agents', { as: 'tokA', body: aidipAgent({ id, name: id, ...changes }) })

const discover = async (body: object = {}) =>
  (await reader.post('/discover', { body: { query: 'quokka contracts', federate: true, ...body } })).json
const idsOf = (list: { id: string }[]) => list.map(({ id }) => id)

/** A server that answers every request in this way. */
async function startServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a search with federate', () => {
  it('PROF-10-01 joins results of peers by rank, and names the origin of each', async () => {
    const text = { description: 'Reads quokka contracts.' }
    await startReader([
      { name: 'north', url: north.url },
      { name: 'south', url: south.url, trust: 'limited' },
    ])
    await register(north, 'from-north', text)
    await register(south, 'from-south', text)
    await register(reader, 'own', text)
    const { candidates, warnings } = await discover()
    expect(warnings).toBeUndefined()
    expect(idsOf(candidates)).toEqual(['own', 'from-north', 'from-south'])
    for (const { id, provenance, verification, score } of candidates) {
      if (id === 'own') expect(provenance).toBeUndefined()
      else expect(provenance.origin_service).toBe(id === 'from-north' ? north.url : south.url)
      expect(verification?.state).not.toBe('verified')
      expect(score).toBeGreaterThan(0)
      expect(score).toBeLessThanOrEqual(1)
    }
    const plain = (await reader.post('/discover', { body: { query: 'quokka contracts' } })).json
    expect(idsOf(plain.candidates)).toEqual(['own'])
    const search = await reader.post('/agents/search', { body: { query: 'quokka', federate: true } })
    expect(search.status).toBe(200)
    expect(idsOf(search.json)).toEqual(['own', 'from-north', 'from-south'])
    expect(search.json[1].origin_service).toBe(north.url)
    const page = await reader.post('/agents/search', {
      body: { query: 'quokka', federate: true, top: 1, skip: 1, include_metadata: true },
    })
    expect(page.json).toMatchObject({ count: 3, results: [{ id: 'from-north', provenance: {} }] })
  })

  it('PROF-14-08 leaves out what local policy does not allow, and does not ask peers without trust', async () => {
    await startReader([
      { name: 'north', url: north.url, tags: ['law'] },
      { name: 'south', url: south.url, trust: 'quarantine' },
    ])
    await register(north, 'law', { description: 'Quokka contracts.', tags: ['law'] })
    await register(north, 'art', { description: 'Quokka contracts.', tags: ['art'] })
    await register(south, 'untrusted', { description: 'Quokka contracts.', tags: ['law'] })
    expect(idsOf((await discover()).candidates)).toEqual(['law'])
    expect(idsOf((await discover({ excluded_tags: ['law'] })).candidates)).toEqual([])
  })

  it('returns in time what there is, with warnings about the peers that did not answer', async () => {
    const slow = await startServer(({ url }, response) => void (url === '/discover' || response.end('{}')))
    const broken = await startServer((_request, response) => response.writeHead(500).end())
    const garbled = await startServer((_request, response) => response.end('{"candidates": ['))
    await startReader([
      ...Object.entries({ north: north.url, slow, broken, garbled }).map(([name, url]) => ({ name, url })),
    ])
    await register(north, 'from-north', { description: 'Quokka contracts.' })
    const started = performance.now()
    const { candidates, warnings } = await discover({ deadline_ms: 700 })
    expect(performance.now() - started).toBeLessThan(5000)
    expect(idsOf(candidates)).toEqual(['from-north'])
    for (const name of ['slow', 'broken', 'garbled'])
      expect(warnings.some((text: string) => text.includes(`the directory ${name} did not answer`))).toBe(true)
  })

  it('has a span for each request to a peer, which is the parent of what the peer does', async () => {
    const receiver = await startOtlpReceiver()
    const traceparents: string[] = []
    const broken = await startServer(({ url, headers }, response) => {
      if (url === '/discover') traceparents.push(String(headers.traceparent))
      response.writeHead(500).end()
    })
    const telemetry = { otlp: { url: `${receiver.url}/v1/traces` } }
    await startReader(
      [
        { name: 'north', url: north.url },
        { name: 'broken', url: broken },
      ],
      { telemetry },
    )
    await discover()
    const named = (name: string) => receiver.spans.find((span) => span.name === name)
    await vi.waitFor(() => expect(named('POST /discover')).toBeDefined(), { timeout: 30_000 })
    const parentSpanId = named('POST /discover')?.spanId
    expect(named('search_peer north')).toMatchObject({
      ...{ parentSpanId, kind: 3 },
      attributes: { 'switchboard.peer': 'north', 'server.address': '127.0.0.1', 'http.response.status_code': 200 },
    })
    const failed = named('search_peer broken')
    expect(failed).toMatchObject({ parentSpanId, attributes: { 'error.type': '500' } })
    expect(traceparents).toEqual([`00-${failed?.traceId}-${failed?.spanId}-01`])
    await receiver.close()
  })

  it('shows nothing that a peer forges: origins, verification, scores, filters, private agents, names of others', async () => {
    const forged = (id: string, changes = {}) => ({
      id,
      name: id,
      description: 'Quokka contracts.',
      tags: ['x'],
      bindings: [{ protocol: 'https', endpoint: 'https://agents.example.net/a' }],
      score: 1e9,
      verification: { state: 'verified', by: 'admin' },
      ...changes,
    })
    let asked = {}
    const hostile = await startServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      if (request.url === '/discover')
        asked = { ...JSON.parse(Buffer.concat(chunks).toString()), headers: request.headers }
      response.end(
        JSON.stringify({
          candidates: [
            forged('own'),
            forged('copied', { provenance: { origin_service: 'https://bank.example' } }),
            forged('hidden', { visibility: 'private' }),
            forged('untagged', { tags: ['y'] }),
            forged('internal', { bindings: [{ protocol: 'http', endpoint: 'http://10.0.0.1/' }] }),
            forged('plausible'),
          ],
        }),
      )
    })
    await startReader([{ name: 'hostile', url: hostile, token: 'our-token' }])
    await register(reader, 'own', { description: 'Something else.', tags: ['x'] })
    const { candidates } = await discover({ required_tags: ['x'], detail: 'full' })
    expect(idsOf(candidates)).toEqual(['plausible'])
    expect(candidates[0]).toMatchObject({
      verification: { state: 'self-asserted' },
      provenance: { origin_service: hostile, path: [hostile] },
    })
    expect(candidates[0].score).toBeLessThanOrEqual(1)
    expect(asked).toMatchObject({ query: 'quokka contracts', required_tags: ['x'] })
    expect(asked).not.toHaveProperty('federate')
    expect(JSON.stringify(asked)).not.toContain('our-token')
  })

  it('says how to call what only a peer knows: at its address, or through the gateway of its origin', async () => {
    const agent = await startAgent()
    await startReader([{ name: 'north', url: north.url }])
    const text = { description: 'Quokka contracts.', endpoint: agent.url }
    await register(north, 'open', text)
    await register(north, 'closed', { ...text, private: ['endpoint'] })
    expect((await reader.post('/agents/open/invoke', { as: 'tokC', body: { text: 'hello' } })).status).toBe(404)

    const { candidates } = await discover()
    const endpointOf = (id: string) =>
      candidates.find((candidate: { id: string }) => candidate.id === id)?.bindings[0].endpoint
    expect(endpointOf('open')).toBe(agent.url)
    expect(endpointOf('closed')).toBe(`${north.url}/agents/closed/invoke`)
    const search = await reader.post('/agents/search', { body: { query: 'quokka', federate: true } })
    expect(search.text).toContain(`${north.url}/agents/closed/invoke`)
    expect(search.text).not.toContain(reader.url)

    const path = new URL(endpointOf('closed')).pathname
    const called = await north.post(path, { as: 'tokC', body: { text: 'hello' } })
    expect([called.status, called.json.text]).toEqual([200, 'hello'])
    await agent.close()
  })

  it('ends loops: a peer is not asked to ask its own peers', async () => {
    reader = await startDirectory()
    await register(reader, 'own', { description: 'Quokka contracts.' })
    const peer = (name: string, directory: TestDirectory) => ({
      as: 'admin' as const,
      body: { name, url: directory.url, trust: 'full', interval_seconds: NEVER },
    })
    await reader.post('/admin/peers', peer('north', north))
    await north.post('/admin/peers', peer('reader', reader))
    expect(idsOf((await discover()).candidates)).toEqual(['own'])
  })
})
