import { writeFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAgent, type TestAgent } from './invoke/agent.js'
import { NO_POSTGRES, testDatabase } from './postgres.js'
import { aidipAgent } from './support/documents.js'
import { ADMIN_KEY, type ServerProcess, startServer, temporaryFolder } from './support/process.js'

const database = await testDatabase()

/** Milliseconds between the checks of the load balancer. */
const CHECK_MS = 50
/** Milliseconds that a replica waits before it refuses connections: time for many checks on a busy machine. */
const DELAY_MS = 1500
const CLIENTS = 8

/** A load balancer that serves its ready backends in turn, over connections that it keeps. It repeats nothing. */
async function startBalancer() {
  const agent = new Agent({ keepAlive: true })
  const backends = new Map<string, boolean>()
  let turn = 0

  const check = async (): Promise<void> => {
    for (const url of backends.keys()) {
      const isReady = await fetch(`${url}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (backends.has(url)) backends.set(url, isReady)
    }
  }
  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const ready = [...backends].flatMap(([url, isReady]) => (isReady ? [url] : []))
    const url = ready[turn++ % ready.length]
    if (url === undefined) return void response.writeHead(502).end('no backend is ready')
    const { method = '', headers } = request
    const passed = sendRequest(url + request.url, { method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', (error) => response.writeHead(502).end(`${url}: ${error.message}`))
    request.pipe(passed)
  }
  const server = createServer(forward).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  let isClosed = false
  const checking = (async () => {
    while (!isClosed) {
      await check()
      await pause(CHECK_MS)
    }
  })()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url: string) => backends.set(url, false),
    remove: (url: string) => backends.delete(url),
    isReady: (url: string) => backends.get(url) === true,
    async close() {
      isClosed = true
      await checking
      agent.destroy()
      server.closeAllConnections()
      server.close()
    },
  }
}

describe.skipIf(!database)(database ? 'replicas behind a load balancer' : `replicas, ${NO_POSTGRES}`, () => {
  const folder = temporaryFolder()
  let agent: TestAgent
  let balancer: Awaited<ReturnType<typeof startBalancer>>
  const running: ServerProcess[] = []

  const start = async (): Promise<ServerProcess> => {
    const config = join(folder.path, 'config.json')
    const limit = 1_000_000
    writeFileSync(
      config,
      JSON.stringify({
        database: database?.url,
        shutdown: { delayMs: DELAY_MS },
        search: { embedder: 'none' },
        rateLimits: { search: limit, register: limit, lookup: limit, invoke: limit },
      }),
    )
    const server = await startServer(['--config', config])
    running.push(server)
    balancer.add(server.url)
    await expect.poll(() => balancer.isReady(server.url), { timeout: 20_000 }).toBe(true)
    return server
  }

  beforeAll(async () => {
    agent = await startAgent()
    balancer = await startBalancer()
  })
  afterAll(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await balancer.close()
    await agent.close()
    folder.remove()
    await database?.drop()
  })

  const send = async (method: string, path: string, body?: JsonObject): Promise<string | undefined> => {
    const response = await fetch(balancer.url + path, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN_KEY}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return response.ok ? undefined : `${method} ${path}: ${response.status} ${text}`
  }

  it('can be restarted one after the other under load, and no request fails', async () => {
    let [one, two] = [await start(), await start()]
    expect(await send('POST', '/agents', agent.document())).toBeUndefined()
    await pause(1000)

    const failures: string[] = []
    let [sent, isDone] = [0, false]
    const client = async (number: number): Promise<void> => {
      const id = `agent-${number}`
      while (!isDone) {
        for (const request of [
          () => send('PUT', `/agents/${id}`, aidipAgent({ id, version: String(sent) })),
          () => send('POST', '/agents/search', { query: 'echo' }),
          () => send('POST', '/agents/x/invoke', { text: 'hello' }),
          () => send('GET', '/agents/x'),
        ]) {
          const failure = await request().catch((error: unknown) => String(error))
          sent++
          if (failure !== undefined) failures.push(failure)
        }
      }
    }
    for (let i = 0; i < CLIENTS; i++) await send('POST', '/agents', aidipAgent({ id: `agent-${i}` }))
    await pause(1000)
    const clients = Array.from({ length: CLIENTS }, (_, i) => client(i))

    const replace = async (server: ServerProcess): Promise<ServerProcess> => {
      const before = sent
      const { code } = await server.stop()
      expect(code).toBe(0)
      balancer.remove(server.url)
      expect(sent).toBeGreaterThan(before)
      return start()
    }
    one = await replace(one)
    two = await replace(two)
    isDone = true
    await Promise.all(clients)
    expect(failures).toEqual([])
    expect(sent).toBeGreaterThan(100)
    await Promise.all([one.stop(), two.stop()])
  }, 120_000)
})
