import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testDatabase } from './postgres.js'
import { aidipAgent } from './support/documents.js'
import { ADMIN_KEY, type Ended, type ServerProcess, startServer, temporaryFolder } from './support/process.js'

const LIMIT_MS = 10_000

let folder: ReturnType<typeof temporaryFolder>
let server: ServerProcess
/** Run after the test, last first. */
let cleanUps: (() => unknown)[]
beforeEach(() => {
  folder = temporaryFolder()
  cleanUps = [folder.remove]
})
afterEach(async () => {
  server.child.kill('SIGKILL')
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

const start = async (args: readonly string[] = [], config: object = {}): Promise<void> => {
  const file = join(folder.path, 'config.json')
  writeFileSync(file, JSON.stringify(config))
  server = await startServer(['--data', join(folder.path, 'data'), '--config', file, ...args])
}

const send = (path: string, body: object): Promise<Response> =>
  fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const register = async (id: string): Promise<number> => (await send('/agents', aidipAgent({ id }))).status

/** Sends SIGTERM; the process must end in time and with code 0. */
const expectPromptEnd = async (): Promise<Ended> => {
  const started = performance.now()
  const ended = await server.stop()
  expect(performance.now() - started).toBeLessThan(LIMIT_MS)
  expect([ended.code, ended.signal]).toEqual([0, null])
  return ended
}

describe('SIGTERM', () => {
  it('ends the server while its embedding model is frozen', async () => {
    await start()
    expect(await register('a')).toBe(201)
    const health = async () => (await fetch(`${server.url}/health/ready`)).json()
    await expect.poll(health, { timeout: 60_000 }).toMatchObject({ index: { pending: 0 } })
    const { pid } = server.child
    const [model] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
    process.kill(model ?? 0, 'SIGSTOP')
    expect(await register('b')).toBe(201)
    expect((await send('/agents/search', { query: 'something else' })).status).toBe(200)
    await expectPromptEnd()
    expect(() => process.kill(model ?? 0, 0)).toThrow('ESRCH')
  })

  it('ends the server while a remote embedder does not respond', async () => {
    const endpoint = createServer(() => {})
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
    cleanUps.push(
      () => endpoint.close(),
      () => endpoint.closeAllConnections(),
    )
    const { port } = endpoint.address() as AddressInfo
    await start([], { search: { embedder: { url: `http://127.0.0.1:${port}`, model: 'm' } } })
    expect(await register('a')).toBe(201)
    expect((await send('/agents/search', { query: 'something' })).status).toBe(200)
    await expectPromptEnd()
  })

  it('ends the server while a webhook does not respond', async () => {
    const agent = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
    let notified = 0
    const webhook = createServer(() => notified++)
    for (const each of [agent, webhook]) {
      await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve))
      cleanUps.push(
        () => each.close(),
        () => each.closeAllConnections(),
      )
    }
    const [endpoint = '', callback = ''] = [agent, webhook].map(
      (each) => `http://127.0.0.1:${(each.address() as AddressInfo).port}/`,
    )
    await start([], { search: { embedder: 'none' } })
    await send('/agents', aidipAgent({ id: 'a', endpoint: endpoint ?? '', inputs: {}, outputs: {} }))
    const deferred = await fetch(`${server.url}/agents/a/invoke`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ADMIN_KEY}`,
        'content-type': 'application/json',
        prefer: 'respond-async',
        'x-callback-url': callback ?? '',
      },
      body: '{}',
    })
    expect(deferred.status).toBe(202)
    await expect.poll(() => notified, { timeout: 20_000 }).toBeGreaterThan(0)
    await expectPromptEnd()
  })

  it('ends the server while another process locks the database, and keeps what was acknowledged', async () => {
    await start([], { search: { embedder: 'none' } })
    expect(await register('kept')).toBe(201)
    const lock = new Database(join(folder.path, 'data/switchboard.db'))
    lock.exec('PRAGMA busy_timeout = 10000') // the directory may be writing at this moment
    lock.exec('BEGIN IMMEDIATE')
    const waiting = Array.from({ length: 40 }, (_, i) => register(`w${i}`).catch(() => 0))
    await sleep(200)
    const ended = expectPromptEnd()
    const statuses = await Promise.all(waiting)
    await ended
    lock.exec('ROLLBACK')
    lock.close()
    await start([], { search: { embedder: 'none' } })
    const acknowledged = statuses.flatMap((status, i) => (status === 201 ? [`w${i}`] : []))
    for (const id of ['kept', ...acknowledged]) expect((await fetch(`${server.url}/agents/${id}`)).status, id).toBe(200)
  })

  it('ends the server while PostgreSQL does not respond', async ({ skip }) => {
    const database = await testDatabase()
    if (!database) return skip()
    cleanUps.push(database.drop)
    const proxy = await startProxy(new URL(database.url))
    cleanUps.push(proxy.close)
    await start(['--database', proxy.url], { search: { embedder: 'none' } })
    expect(await register('a')).toBe(201)
    proxy.freeze()
    const waiting = register('b').catch(() => 0)
    await sleep(500)
    const { stderr } = await expectPromptEnd()
    expect(stderr).toContain('did not stop in time')
    expect(await waiting).not.toBe(201)
  })
})

/** A TCP proxy to a database that can stop forwarding, like a network that drops every packet. */
async function startProxy(target: URL): Promise<{ url: string; freeze(): void; close(): void }> {
  const sockets = new Set<Socket>()
  const host = target.searchParams.get('host') ?? target.hostname
  let isFrozen = false
  const proxy = createTcpServer((client) => {
    sockets.add(client.on('error', () => {}))
    if (isFrozen) return
    const upstream = host.startsWith('/')
      ? connect(join(host, `.s.PGSQL.${target.port || 5432}`))
      : connect(Number(target.port || 5432), host)
    client.pipe(upstream).pipe(client)
    sockets.add(upstream.on('error', () => {}))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: url.href,
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    close() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
