import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createServer, type Server } from '../src/app.js'
import type { Settings } from '../src/config/settings.js'
import { aidipAgent } from './support/documents.js'
import { temporaryFolder } from './support/process.js'

const ADMIN = 'administrator-of-the-connections'
/** Agents with so much content that a list of them does not fit into the buffers of the system. */
const LARGE = { agents: 60, bytes: 200_000 }

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step()
})

interface Running {
  readonly server: Server
  readonly port: number
}

async function start(connections: NonNullable<Settings['connections']>, more: Settings = {}): Promise<Running> {
  const folder = temporaryFolder()
  const server = await createServer({
    port: 0,
    data: folder.path,
    adminKey: ADMIN,
    logLevel: 'silent',
    search: { embedder: 'none' },
    rateLimits: { register: 1e6 },
    connections,
    ...more,
  })
  const url = await server.listen()
  cleanUp.push(folder.remove, () => server.close())
  return { server, port: Number(new URL(url).port) }
}

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  cleanUp.push(() => socket.destroy())
  return socket
}

const isServed = async (socket: Socket): Promise<boolean> => {
  socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\nx-forwarded-proto: https\r\n\r\n')
  const [chunk] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
  return String(chunk).startsWith('HTTP/1.1 200')
}

/** Registers without a connection. */
async function register({ server }: Running, document: Parameters<typeof aidipAgent>[0]): Promise<void> {
  const { statusCode, body } = await server.app.inject({
    method: 'POST',
    url: '/agents',
    headers: { authorization: `Bearer ${ADMIN}` },
    payload: aidipAgent(document),
  })
  expect([statusCode, body.slice(0, 200)]).toEqual([201, expect.anything()])
}

const connectionsOf = ({ server }: Running): Promise<number> =>
  new Promise((resolve, reject) =>
    server.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

async function registerLarge(running: Running): Promise<void> {
  const notes = 'x'.repeat(LARGE.bytes)
  for (let i = 0; i < LARGE.agents; i++) await register(running, { id: `large-${i}`, notes })
}

const LIST = 'GET /agents?top=100&include_metadata=true HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

describe('open connections', () => {
  it('are limited for each address: the next is closed, until another one ends', async () => {
    const { port } = await start({ maxPerAddress: 3 })
    const sockets = [open(port), open(port), open(port)]
    for (const socket of sockets) expect(await isServed(socket)).toBe(true)
    expect(await isServed(open(port))).toBe(false)
    sockets[0]?.destroy()
    await expect.poll(() => isServed(open(port))).toBe(true)
  })

  it('are limited in total; behind a proxy its address has no limit of its own', async () => {
    const { port } = await start({ max: 3, maxPerAddress: 1 }, { behindProxy: true })
    for (const socket of [open(port), open(port), open(port)]) expect(await isServed(socket)).toBe(true)
    expect(await isServed(open(port))).toBe(false)
  })
})

describe('a client that does not read', () => {
  it('is disconnected, also in the middle of a large list', async () => {
    const running = await start({ stallTimeoutMs: 200 })
    await registerLarge(running)
    let accepted = 0
    running.server.app.server.on('connection', () => accepted++)
    const sockets = Array.from({ length: 5 }, () => open(running.port).pause())
    for (const socket of sockets) socket.write(LIST)
    await expect.poll(() => accepted, { timeout: 5000 }).toBe(5)
    await expect.poll(() => connectionsOf(running), { timeout: 10_000 }).toBe(0)
  })

  it('is disconnected from a stream, and the call to the agent ends', async () => {
    let [calls, isOpen] = [0, false]
    const agent = await startAgent((_request, response) => {
      calls++
      isOpen = true
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const timer = setInterval(() => response.write(`data: "${'x'.repeat(100_000)}"\n\n`), 1)
      response.on('close', () => {
        clearInterval(timer)
        isOpen = false
      })
    })
    const running = await start({ stallTimeoutMs: 200 })
    await register(running, { id: 'streamer', endpoint: agent })
    open(running.port)
      .pause()
      .write(
        `POST /agents/streamer/invoke HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ADMIN}\r\naccept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{"text":"x"}`,
      )
    await expect.poll(() => calls, { timeout: 5000 }).toBe(1)
    await expect.poll(() => isOpen, { timeout: 10_000 }).toBe(false)
    await expect.poll(() => connectionsOf(running), { timeout: 5000 }).toBe(0)
  })
})

describe('a client is not disconnected', () => {
  it('if it reads slowly', async () => {
    const running = await start({ stallTimeoutMs: 1000 })
    await registerLarge(running)
    const socket = open(running.port)
    let received = 0
    socket.on('data', (chunk) => {
      received += chunk.length
      socket.pause()
      setTimeout(() => socket.resume(), 1)
    })
    socket.write(LIST)
    await once(socket, 'close')
    expect(received).toBeGreaterThan(LARGE.agents * LARGE.bytes)
  })

  it('if it waits for an agent', async () => {
    const agent = await startAgent(async (_request, response) => {
      await sleep(1000)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"late"}')
    })
    const running = await start({ stallTimeoutMs: 200 })
    await register(running, { id: 'slow', endpoint: agent })
    const response = await fetch(`http://127.0.0.1:${running.port}/agents/slow/invoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
      body: '{"text":"x"}',
    })
    expect(await response.text()).toContain('late')
  })
})

async function startAgent(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUp.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/`
}
