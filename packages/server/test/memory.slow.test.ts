import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startAgent, type TestAgent } from './invoke/agent.js'
import { aidipAgent } from './support/documents.js'
import { ADMIN_KEY, type ServerProcess, startServer, temporaryFolder } from './support/process.js'

/** Megabytes of heap; without the limits on documents and inputs, the server runs out of it. */
const HEAP_MB = 300

let folder: ReturnType<typeof temporaryFolder>
let server: ServerProcess
const start = async (): Promise<void> => {
  server = await startServer(['--data', folder.path, '--log-level', 'error'], {
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
  })
}
beforeEach(async () => {
  folder = temporaryFolder()
  await start()
})
afterEach(async () => {
  await server.stop('SIGKILL')
  folder.remove()
})

const send = (path: string, raw: string, key = ADMIN_KEY): Promise<Response> =>
  fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: raw,
  })

/** Megabytes that the process uses. */
const residentMemory = (): number => {
  const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

const isAlive = async (): Promise<boolean> => (await fetch(`${server.url}/health/ready`)).status === 200

/** JSON of nested lists with this many values. */
const nestedLists = (values: number): string =>
  `[${Array.from({ length: values / 50 }, () => '['.repeat(50) + ']'.repeat(50)).join(',')}]`

/** Documents that take as much memory as the limits allow, of three kinds. */
const LARGEST = [
  nestedLists(19_900),
  `[${Array.from({ length: 9900 }, (_, i) => `{"k${i}":0}`).join(',')}]`,
  JSON.stringify('x'.repeat(250_000)),
]

it('survives an owner who registers the largest documents, and starts again with them', async () => {
  const made = await send('/admin/keys', JSON.stringify({ subject: 'greedy', scopes: ['publish', 'discover'] }))
  const { key } = JSON.parse(await made.text())
  const rejected = await send(
    '/agents',
    JSON.stringify(aidipAgent()).replace(/}$/, `,"x":${nestedLists(80_000)}}`),
    key,
  )
  expect(rejected.status).toBe(400)
  const statuses: number[] = []
  for (let i = 0; i < 100; i++) {
    const document = JSON.stringify(aidipAgent({ id: `agent-${i}` })).replace(/}$/, `,"x":${LARGEST[i % 3]}}`)
    const { status } = await send('/agents', document, key)
    statuses.push(status)
  }
  expect(statuses.filter((status) => status === 201).length).toBeGreaterThan(50)
  expect(await isAlive()).toBe(true)
  await server.stop()
  await start()
  expect(await isAlive()).toBe(true)
}, 180_000)

/** Calls the agent, and resolves when the first part of its stream has arrived. */
async function openStream(input: string): Promise<ClientRequest> {
  const call = request(`${server.url}/agents/x/invoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ADMIN_KEY}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'content-length': Buffer.byteLength(input),
    },
  })
  call.end(input)
  const [response] = await once(call, 'response')
  expect(response.statusCode).toBe(200)
  await once(response, 'data')
  return call
}

/** Calls the agent over a WebSocket, with a bare input or a frame, and resolves when the first part has arrived. */
async function openSocket(line: string): Promise<WebSocket> {
  const url = `${server.url.replace('http', 'ws')}/agents/x/invoke`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })
  await once(socket, 'open')
  socket.send(line)
  const [part] = await once(socket, 'message')
  expect(String(part)).toContain('"n":1')
  return socket
}

const TEXT = 'x'.repeat(7_500_000)

it.each<[string, () => Promise<{ close(): void }>]>([
  [
    'over HTTP',
    async () => {
      const call = await openStream(JSON.stringify({ text: TEXT }))
      return { close: () => call.destroy() }
    },
  ],
  [
    'over WebSockets',
    async () => {
      const socket = await openSocket(JSON.stringify({ text: TEXT, stream: true }))
      return { close: () => socket.terminate() }
    },
  ],
  [
    'in frames over WebSockets',
    async () => {
      const socket = await openSocket(JSON.stringify({ id: 1, stream: true, input: { text: TEXT } }))
      return { close: () => socket.terminate() }
    },
  ],
])(
  'does not keep the inputs of calls whose responses are streamed: %s',
  async (_, open) => {
    const agent: TestAgent = await startAgent((_received, response) => {
      agent.calls.length = 0
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"n":1}\n\n')
    })
    const document = agent.document({ inputs: { type: 'object' }, outputs: { type: 'object' } })
    expect((await send('/agents', JSON.stringify(document))).status).toBe(201)
    const before = residentMemory()
    const calls: { close(): void }[] = []
    for (let i = 0; i < 60; i++) calls.push(await open())
    expect(await isAlive()).toBe(true)
    // 60 inputs are 450 MB, several times that with their copies.
    expect(residentMemory() - before).toBeLessThan(400)
    for (const call of calls) call.close()
    await agent.close()
  },
  180_000,
)

it('survives inputs and responses of many tiny values', async () => {
  const agent = await startAgent((_received, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(nestedLists(4_800_000))
  })
  const document = agent.document({ inputs: { type: 'object' }, outputs: { type: 'object' } })
  expect((await send('/agents', JSON.stringify(document))).status).toBe(201)
  const nested = `{"list":${nestedLists(4_000_000)}}`
  const inputs = await Promise.all(Array.from({ length: 6 }, () => send('/agents/x/invoke', nested)))
  expect(inputs.map(({ status }) => status)).toEqual(Array(6).fill(400))
  expect(agent.calls).toEqual([])
  const responses = await Promise.all(Array.from({ length: 6 }, () => send('/agents/x/invoke', '{}')))
  expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(502))
  expect(await isAlive()).toBe(true)
  await agent.close()
}, 180_000)
