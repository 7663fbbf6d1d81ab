import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { isObject, type JsonObject, parseJson } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startAgent, type TestAgent } from '../invoke/agent.js'
import { ADMIN_KEY, type ServerProcess, startServer, temporaryFolder } from '../support/process.js'

const folder = temporaryFolder()
const admin = { authorization: `Bearer ${ADMIN_KEY}` }
const json = { 'content-type': 'application/json' }

let agent: TestAgent
beforeAll(async () => {
  agent = await startAgent()
})
afterAll(async () => {
  await agent.close()
  folder.remove()
})

/** The lines of the access log, after the server has stopped. */
async function accessesOf(server: ServerProcess): Promise<JsonObject[]> {
  await server.stop()
  const lines = server
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  return lines
    .map((line) => parseJson(line))
    .filter((line): line is JsonObject => isObject(line) && line.msg === 'access')
}

describe('the access log', () => {
  it('has one line for each request: caller, request id, route, status and duration, but no texts', async () => {
    const server = await startServer(['--data', join(folder.path, 'a'), '--access-log'])
    const { url } = server
    await fetch(`${url}/agents?q=zebracrossing`, { headers: { 'x-request-id': 'first' } })
    await fetch(`${url}/agents/quokka`, { headers: { ...admin, 'x-request-id': 'second' } })
    await fetch(`${url}/narwhal`, { headers: { 'x-request-id': 'third' } })
    await fetch(`${url}/agents/search`, {
      method: 'POST',
      headers: { ...json, 'x-request-id': 'fourth' },
      body: '{"query":"okapi"}',
    })
    const accesses = await accessesOf(server)
    expect(accesses).toMatchObject([
      { reqId: 'first', caller: 'anonymous', method: 'GET', route: '/agents', status: 200 },
      { reqId: 'second', caller: 'admin', method: 'GET', route: '/agents/:id', status: 404 },
      { reqId: 'third', caller: 'anonymous', method: 'GET', status: 404 },
      { reqId: 'fourth', caller: 'anonymous', method: 'POST', route: '/agents/search', status: 200 },
    ])
    for (const { ms } of accesses) expect(ms).toBeGreaterThanOrEqual(0)
    const text = JSON.stringify(accesses)
    for (const secret of ['zebracrossing', 'quokka', 'narwhal', 'okapi', ADMIN_KEY]) expect(text).not.toContain(secret)
  })

  it('has a line for a client that leaves before the response, and for a WebSocket', async () => {
    const server = await startServer(['--data', join(folder.path, 'b')], { env: { SWITCHBOARD_ACCESS_LOG: 'true' } })
    const { url } = server
    const registered = await fetch(`${url}/agents`, {
      method: 'POST',
      headers: { ...admin, ...json },
      body: JSON.stringify(agent.document()),
    })
    expect(registered.status).toBe(201)

    const called = new Promise<void>((resolve) => {
      agent.reply = () => resolve()
    })
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const [head, body] = [`POST /agents/x/invoke HTTP/1.1\r\nHost: x\r\nX-Request-ID: left`, '{"text":"a"}']
    socket.write(`${head}\r\nAuthorization: ${admin.authorization}\r\nContent-Type: application/json\r\n`)
    socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`)
    await called
    socket.destroy()

    const frames = new WebSocket(`${url.replace('http', 'ws')}/agents/x/invoke`, {
      headers: { ...admin, 'x-request-id': 'frames' },
    })
    await once(frames, 'open')
    frames.close()
    await once(frames, 'close')
    await server.printed(/"reqId":"frames".*"msg":"access"/)
    await server.printed(/"reqId":"left".*"msg":"access"/)
    const accesses = await accessesOf(server)
    const route = '/agents/:id/invoke'
    expect(accesses.find(({ reqId }) => reqId === 'left')).toMatchObject({ caller: 'admin', route, status: 499 })
    expect(accesses.find(({ reqId }) => reqId === 'frames')).toMatchObject({ caller: 'admin', route, status: 101 })
  })

  it('is off by default', async () => {
    const server = await startServer(['--data', join(folder.path, 'c')])
    await fetch(`${server.url}/agents`)
    expect(await accessesOf(server)).toEqual([])
  })
})
