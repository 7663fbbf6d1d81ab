import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import type { Gateway } from '../../src/gateway/gateway.js'
import { bodyOf, createTestGateway, failure, sendJson, startHttpAgent, startRawAgent, type TestAgent } from './agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

async function start(
  listener: Parameters<typeof startHttpAgent>[0],
  options: Parameters<typeof createTestGateway>[0] = {},
): Promise<{ server: TestAgent; fetch: Gateway['fetch'] }> {
  const server = await startHttpAgent(listener)
  const gateway = createTestGateway(options)
  open.push(gateway, server)
  return { server, fetch: gateway.fetch }
}

describe('the guarded fetch', () => {
  it('sends requests and returns responses like fetch', async () => {
    const { server, fetch } = await start(async (request, response) => {
      const { method, url, headers } = request
      const { 'content-type': type, 'x-own': own, cookie } = headers
      sendJson(response, { method, url, type, own, cookie, body: await bodyOf(request) }, 201, { 'x-answer': 'yes' })
    })
    const headers = { 'content-type': 'text/x', 'X-Own': '1', cookie: 'a=b' }
    const response = await fetch(new URL('/hook?a=1', server.url), { method: 'POST', headers, body: 'héllo' })
    expect(response.status).toBe(201)
    expect(response.headers.get('x-answer')).toBe('yes')
    expect(await response.json()).toEqual({ method: 'POST', url: '/hook?a=1', type: 'text/x', own: '1', body: 'héllo' })
    const request = new Request(server.url, { method: 'PUT', body: 'x', headers: { 'x-own': '2' } })
    expect(await (await fetch(request)).json()).toMatchObject({ method: 'PUT', own: '2', body: 'x' })
  })

  it('returns responses without a body', async () => {
    const { server, fetch } = await start((_, response) => response.writeHead(204).end())
    expect((await fetch(server.url)).status).toBe(204)
    expect((await fetch(server.url, { method: 'HEAD' })).body).toBeNull()
  })

  it('rejects internal addresses', async () => {
    const { fetch } = await start(() => {})
    for (const url of ['https://10.0.0.1/', 'http://169.254.169.254/', 'https://[fd00::1]/']) {
      expect(await failure(fetch(url)), url).toMatchObject({ code: 'blocked' })
    }
  })

  it('follows no redirects', async () => {
    const { server, fetch } = await start((request, response) => {
      if (request.url === '/inside') return sendJson(response, 'secret')
      return response.writeHead(302, { location: '/inside' }).end()
    })
    expect((await fetch(server.url, { redirect: 'manual' })).status).toBe(302)
    for (const redirect of ['follow', 'error'] as const) {
      expect(await failure(fetch(server.url, { redirect }))).toMatchObject({ code: 'bad_response' })
    }
  })

  it('limits the size, also of compressed bodies', async () => {
    const { server, fetch } = await start(
      (request, response) => {
        if (request.url === '/gzip') return response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')
        return response.end('x'.repeat(5000))
      },
      { maxBodyBytes: 1000 },
    )
    const response = await fetch(server.url)
    expect(await failure(response.text())).toMatchObject({ code: 'too_large' })
    expect(await failure(fetch(`${server.url}gzip`))).toMatchObject({ code: 'bad_response' })
  })

  it('limits the time, also of the body', async () => {
    const { server, fetch } = await start(
      (request, response) => {
        if (request.url === '/body') response.writeHead(200).write('x')
      },
      { timeoutMs: 100 },
    )
    expect(await failure(fetch(server.url))).toMatchObject({ code: 'timeout' })
    const response = await fetch(`${server.url}body`)
    expect(await failure(response.text())).toMatchObject({ code: 'timeout' })
  })

  it('lets a stream continue as long as data arrives', async () => {
    const { server, fetch } = await start(
      async (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (let i = 0; i < 8; i++) {
          response.write(`data: ${i}\n\n`)
          await new Promise((resolve) => setTimeout(resolve, 150))
        }
        response.end()
      },
      { timeoutMs: 1000, maxBodyBytes: 20 },
    )
    expect((await (await fetch(server.url)).text()).match(/data/g)).toHaveLength(8)
  })

  it('is aborted by its signal, and leaves no listeners on it', async () => {
    const { server, fetch } = await start((request, response) => {
      if (request.url === '/ok') sendJson(response, 1)
      else response.writeHead(200).write('x')
    })
    const caller = new AbortController()
    for (let i = 0; i < 20; i++) await (await fetch(`${server.url}ok`, { signal: caller.signal })).text()
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0)
    const response = await fetch(server.url, { signal: caller.signal })
    const text = failure(response.text())
    caller.abort()
    expect(await text).toMatchObject({ code: 'cancelled' })
    expect(await failure(fetch(server.url, { signal: caller.signal }))).toMatchObject({ code: 'cancelled' })
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0)
  })

  it('closes the connection when the response is cancelled', async () => {
    const server = await startRawAgent((socket) => socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nx')))
    const gateway = createTestGateway()
    open.push(gateway, server)
    const response = await gateway.fetch(server.url)
    const gone = new Promise((resolve) => [...server.sockets][0]?.on('close', resolve))
    await response.body?.cancel()
    await gone
  })
})
