import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Computer, sendRaw, startAgent, startComputer } from './support/computer.js'

let computer: Computer
let agent: Awaited<ReturnType<typeof startAgent>>
const failures: unknown[] = []

beforeAll(async () => {
  agent = await startAgent((_seen, response) => response.writeHead(200).end('{}'))
  computer = await startComputer({ ask: async () => false, onError: (error) => failures.push(error) })
  await computer.client.register('notes', {
    url: agent.url,
    descriptor: { name: 'n', capabilities: [{ name: 'add' }] },
  })
})
afterAll(async () => {
  await computer.close()
  await agent.close()
})

const segment = fc.oneof(
  fc.constantFrom('agents', 'notes', 'add', 'tasks', 'consents', 'invoke', 'log', '..', '%2e%2e', '%00', '%', ''),
  fc.string({ maxLength: 8 }).map(encodeURIComponent),
)
const path = fc.array(segment, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
const headerText = fc.stringMatching(/^[\x21-\x7e]{0,30}$/)
const origin = fc.oneof(fc.constantFrom('https://page.example', 'http://localhost:3000', 'null'), headerText)
const body = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc
    .record({ agent: fc.constantFrom('notes', 'x'), capability: fc.constantFrom('add', '*', 'y') })
    .map((value) => JSON.stringify(value)),
  fc.string({ maxLength: 50 }),
)

describe('random requests', () => {
  it('never reach an agent through the bridge, and never make it fail', async () => {
    const host = new URL(computer.bridgeUrl).host
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'),
          path,
          origin,
          body,
          key: headerText,
        }),
        async (random) => {
          const headers = ['host', host, 'origin', random.origin, 'content-type', 'application/json']
          const more = [
            'authorization',
            `Bearer ${random.key}`,
            'content-length',
            String(Buffer.byteLength(random.body)),
          ]
          const request = { method: random.method, headers: [...headers, ...more], body: random.body }
          const { status } = await sendRaw(computer.bridgeUrl + random.path, request)
          expect([400, 403, 404, 413, 415, 429]).toContain(status)
        },
      ),
      { numRuns: 300 },
    )
    expect([agent.seen, failures]).toEqual([[], []])
  })

  it('never make the socket API fail, whatever a descriptor contains', async () => {
    const descriptor = fc.oneof(
      fc.object({ maxDepth: 4 }),
      fc.record({
        name: fc.anything(),
        capabilities: fc.anything(),
        operations: fc.anything(),
        transport: fc.anything(),
      }),
    )
    await fc.assert(
      fc.asyncProperty(descriptor, async (value) => {
        const sent = JSON.stringify({ url: agent.url, descriptor: value })
        const headers = [
          'host',
          'localhost',
          'content-type',
          'application/json',
          'content-length',
          String(Buffer.byteLength(sent)),
        ]
        const put = { method: 'PUT', headers, body: sent, socketPath: computer.socket }
        const { status } = await sendRaw('http://localhost/agents/other', put)
        expect([200, 201, 400]).toContain(status)
        const get = { method: 'GET', headers: ['host', 'localhost'], socketPath: computer.socket }
        expect([200, 404]).toContain((await sendRaw('http://localhost/agents/other', get)).status)
      }),
      { numRuns: 300 },
    )
    expect(failures).toEqual([])
  })
})
