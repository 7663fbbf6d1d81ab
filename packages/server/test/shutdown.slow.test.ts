import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { JsonObject } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { DEFAULTS } from '../src/config/settings.js'
import { PROTOCOLS } from './calls/agents.js'
import { type Reply, startAgent, type TestAgent } from './invoke/agent.js'
import { stream } from './invoke/read-stream.js'
import { startDirectory } from './support/directory.js'
import { ADMIN_KEY, type ServerProcess, startServer, temporaryFolder } from './support/process.js'

const NDJSON = 'application/x-ndjson'
const SSE = 'text/event-stream'
const PART = JSON.stringify({ text: 'x'.repeat(64 * 1024) })

/**
 * Never ends, whatever it is asked: `flood` streams without a pause, `hang` does not respond, and any other input gets
 * one part of a stream.
 */
const endless: Reply = ({ json }, response) => {
  if (json.text === 'hang') return
  response.writeHead(200, { 'content-type': NDJSON })
  if (json.text === 'flood') Readable.from(endlessParts()).pipe(response)
  else response.write('1\n')
}

function* endlessParts(): Generator<string> {
  for (;;) yield `${PART}\n`
}

let agent: TestAgent
let server: ServerProcess
const cleanUps: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function start(): Promise<void> {
  const folder = temporaryFolder()
  cleanUps.push(folder.remove)
  agent = await startAgent(endless)
  cleanUps.push(agent.close)
  server = await startServer(['--data', folder.path])
  cleanUps.push(() => void server.child.kill('SIGKILL'))
  const registered = await post('/agents', agent.document())
  expect(registered.status, await registered.text()).toBe(201)
}

const post = (path: string, body: JsonObject, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const call = (text: string, headers?: Record<string, string>): Promise<Response> =>
  post('/agents/x/invoke', { text }, headers)

interface Talk {
  readonly lines: JsonObject[]
  /** Resolves with the close code. */
  readonly closed: Promise<number>
  readonly socket: WebSocket
}

/** Opens a WebSocket and sends one line. */
async function talk(line: JsonObject): Promise<Talk> {
  const url = `${server.url.replace('http', 'ws')}/agents/x/invoke`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })
  cleanUps.push(() => socket.terminate())
  await once(socket, 'open')
  const lines: JsonObject[] = []
  socket.on('message', (data) => lines.push(JSON.parse(String(data))))
  const closed = once(socket, 'close').then(([code]) => Number(code))
  socket.send(`${JSON.stringify(line)}\n`)
  return { lines, closed, socket }
}

/** Calls the agent over a connection that is never read. */
async function callWithoutReading(): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  cleanUps.push(() => void socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  const body = '{"text":"flood"}'
  const head = [`authorization: Bearer ${ADMIN_KEY}`, `accept: ${SSE}`, 'content-type: application/json']
  socket.write(`POST /agents/x/invoke HTTP/1.1\r\nhost: x\r\n${head.join('\r\n')}\r\n`)
  socket.write(`content-length: ${body.length}\r\n\r\n${body}`)
  return socket
}

const STOPPING = { code: 'Unavailable', message: expect.stringContaining('the directory is stopping') }

describe('SIGTERM during calls that do not end', () => {
  it('C-59 ends every stream, call and socket with an error, and the process with 0 within 10 s', async () => {
    await start()
    const streams = [await call('stream', { accept: SSE }), await call('stream', { accept: NDJSON })]
    const waiting = call('hang')
    const deferred = await call('hang', { prefer: 'respond-async' })
    expect(deferred.status).toBe(202)
    const bare = await talk({ text: 'stream' })
    const frames = await talk({ id: '1', input: { text: 'stream' }, stream: true })
    frames.socket.send(`${JSON.stringify({ id: '2', input: { text: 'hang' } })}\n`)
    const flooded = await talk({ id: '1', input: { text: 'flood' }, stream: true })
    flooded.socket.pause()
    await callWithoutReading()
    await expect.poll(() => agent.calls.length, { timeout: 10_000 }).toBe(9)
    await expect.poll(() => [bare.lines.length, frames.lines.length]).toEqual([1, 1])

    const began = performance.now()
    const { code, signal, stderr } = await server.stop()
    expect([code, signal], stderr).toEqual([0, null])
    expect(performance.now() - began).toBeLessThan(10_000)

    const [events = '', lines = ''] = await Promise.all(streams.map((response) => response.text()))
    expect(events).toMatch(/^data: 1\n\nevent: error\ndata: .*\n\n$/)
    expect(JSON.parse(/^data: (\{.*)$/m.exec(events)?.[1] ?? '')).toEqual({ error: STOPPING })
    expect(JSON.parse(lines.trim().split('\n').at(-1) ?? '')).toEqual({ error: STOPPING })
    const response = await waiting
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(await response.json()).toMatchObject({ code: 'unavailable', error: STOPPING })
    expect(await bare.closed).toBe(1001)
    expect(bare.lines).toEqual([1, { error: STOPPING }])
    expect(await frames.closed).toBe(1001)
    // Calls end independently of each other; their frames have ids.
    expect(frames.lines.slice(1).toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual([
      { id: '1', error: { ...STOPPING, status: 503 } },
      { id: '2', error: { ...STOPPING, status: 503 } },
    ])
  })
})

describe('a directory that is closed during a stream', () => {
  it.concurrent.each(Object.entries(PROTOCOLS).filter(([, { begun }]) => begun))(
    'C-59 ends it with an error, if the agent speaks %s',
    async (_, protocol) => {
      const folder = temporaryFolder()
      const agentOfProtocol = await protocol.start(folder.path)
      const { policy } = DEFAULTS
      const directory = await startDirectory({
        gateway: { socketFolders: [folder.path] },
        policy: { ...policy, schemes: [...policy.schemes, 'unix'] },
      })
      await agentOfProtocol.register(directory)
      const streamed = await stream(directory, { text: 'hang' }, { accept: SSE })
      await streamed.next('\n\n')
      await directory.close()
      const events = (await streamed.rest()).trimEnd().split('\n\n')
      expect(events.at(-1)).toMatch(/^event: error\ndata: .*the directory is stopping/)
      await agentOfProtocol.close()
      folder.remove()
    },
  )
})
