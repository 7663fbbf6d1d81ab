import { createServer } from 'node:http'
import { eachPart } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { AGENT_MESSAGES, MESSAGES, REPLIES } from '../../../protocol/test-vectors/call/frames.js'
import {
  callOf,
  createTestGateway,
  endpoint,
  gather,
  startHttpAgent,
  startRawAgent,
  startSocketAgent,
} from './agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

async function start(
  onMessage: Parameters<typeof startSocketAgent>[0],
  onUpgrade?: Parameters<typeof startSocketAgent>[1],
) {
  const agent = await startSocketAgent(onMessage, onUpgrade)
  const gateway = createTestGateway({ maxPartBytes: 1000, maxBodyBytes: 5000 })
  open.push(gateway, agent)
  return { agent, gateway, target: endpoint(agent.url, 'websocket') }
}
const frame = (value: unknown): string => `${JSON.stringify(value)}\n`

describe('an agent behind a WebSocket', () => {
  it('AURI-8-01 AURI-8.1-04 receives operation, input and identifiers in one line, and responds with a result', async () => {
    const seen: unknown[] = []
    const { gateway, target } = await start(
      (text, send) => {
        seen.push(JSON.parse(text), text.endsWith('\n'))
        send(frame({ id: '1', result: { ok: true } }))
      },
      (request) => seen.push(request.headers.authorization, request.headers['accept-encoding']),
    )
    const headers = { 'X-Session-ID': 's1', 'x-task-id': 't1', authorization: 'Bearer agent' }
    expect(await gateway.call(callOf(target, { headers }))).toMatchObject({
      status: 200,
      kind: 'json',
      value: { ok: true },
      endpoint: target,
    })
    expect(seen).toEqual([
      'Bearer agent',
      'identity',
      { id: '1', operation: 'echo', input: { text: 'hi' }, stream: false, sessionId: 's1', taskId: 't1' },
      true,
    ])
  })

  it('AURI-8-06 streams lines, joined from messages that are split anywhere', async () => {
    const { gateway, target } = await start((_, send) => {
      const text =
        frame({ id: '1', data: { n: 1 } }) +
        frame({ id: '1', data: 'é', event: 'word' }) +
        frame({ id: '1', done: true })
      for (let at = 0; at < text.length; at += 3) send(text.slice(at, at + 3))
    })
    const answer = await gateway.call(callOf(target, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    expect(await gather(eachPart(answer.batches))).toEqual([{ data: { n: 1 } }, { data: 'é', event: 'word' }])
  })

  it('AURI-8-09 without frames streams bare values, one per message, until it closes', async () => {
    const { gateway, target } = await start((_, send, close) => {
      send('{"n":1}')
      send('[2]')
      send('{"n":3}\n{"n":4}')
      close(1000)
    })
    const answer = await gateway.call(callOf(target, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    expect((await gather(eachPart(answer.batches))).map(({ data }) => data)).toEqual([
      { n: 1 },
      [2],
      { n: 3 },
      { n: 4 },
    ])
    expect(await gateway.call(callOf(target))).toMatchObject({ kind: 'json', value: { n: 1 } })
  })

  it('responds with its own error and status', async () => {
    const error = { code: 'NotFound', message: 'no such thing' }
    const problem = { title: 'Not Found', status: 404 }
    const lines = [{ id: '1', status: 404, error }, { id: 1, error: problem }, { error: problem }, { id: '1', error }]
    const { gateway, target } = await start((_, send) => send(frame(lines.shift())))
    expect(await gateway.call(callOf(target))).toMatchObject({ status: 404, kind: 'json', value: { error } })
    expect(await gateway.call(callOf(target))).toMatchObject({ status: 404, value: { error: { title: 'Not Found' } } })
    expect(await gateway.call(callOf(target))).toMatchObject({ status: 404, value: { error: { title: 'Not Found' } } })
    expect(await gateway.call(callOf(target))).toMatchObject({ status: 500, value: { error } })
  })

  it.each(REPLIES)('AURI-8-06 replies with $name', async ({ lines, parts, error }) => {
    const { gateway, target } = await start((_, send, close) => {
      for (const line of lines) send(frame(line))
      close(1000)
    })
    const answer = await gateway.call(callOf(target, { wantsStream: true }))
    if (answer.kind === 'json') {
      expect([answer.status, [{ data: answer.value }]]).toEqual([200, parts])
    } else if (answer.kind === 'stream') {
      const seen: unknown[] = []
      const reading = (async () => {
        for await (const part of eachPart(answer.batches)) seen.push(part)
      })()
      // An error frame is a part for the caller; a missing end frame is a gateway error.
      if (error && lines.length === parts.length) await expect(reading).rejects.toMatchObject({ code: 'bad_response' })
      else await reading
      expect(seen.slice(0, parts.length)).toEqual(parts)
      expect(seen.slice(parts.length)).toEqual(
        error && lines.length > parts.length ? [expect.objectContaining({ event: 'error' })] : [],
      )
    } else throw new Error(answer.kind)
  })

  it.each([...MESSAGES, ...AGENT_MESSAGES])('AURI-8-06 sends $name', async ({ messages, lines }) => {
    const { gateway, target } = await start((_, send, close) => {
      for (const message of messages) send(message)
      close(1000)
    })
    const answer = await gateway.call(callOf(target, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    expect((await gather(eachPart(answer.batches))).map(({ data }) => data)).toEqual(
      lines.map((line) => JSON.parse(line)),
    )
  })

  it('that closes before its end frame breaks its stream', async () => {
    const { gateway, target } = await start((_, send, close) => {
      send(frame({ id: '1', data: 1 }))
      close(1000)
    })
    const answer = await gateway.call(callOf(target, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    await expect(gather(eachPart(answer.batches))).rejects.toMatchObject({ code: 'bad_response' })
  })

  it('C-59 reports an error within the stream', async () => {
    const error = { code: 'Broke', message: 'half-way' }
    const { gateway, target } = await start((_, send) => {
      send(frame({ id: '1', data: 1 }))
      send(frame({ id: '1', error }))
    })
    const answer = await gateway.call(callOf(target, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    expect(await gather(eachPart(answer.batches))).toEqual([{ data: 1 }, { data: { error }, event: 'error' }])
  })

  it('sees its socket closed when the reader stops', async () => {
    const agent = await startSocketAgent((_, send) => send(frame({ id: '1', data: 1 })))
    const gateway = createTestGateway()
    open.push(gateway, agent)
    const answer = await gateway.call(callOf(endpoint(agent.url, 'websocket'), { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    expect(agent.sockets.size).toBe(1)
    const gone = new Promise((resolve) => [...agent.sockets][0]?.on('close', resolve))
    for await (const part of eachPart(answer.batches)) {
      expect(part.data).toBe(1)
      break
    }
    await gone
  })

  it('sees its socket closed when its caller goes away', async () => {
    const caller = new AbortController()
    const { agent, gateway, target } = await start(() => {
      gone = new Promise((resolve) => [...agent.sockets][0]?.on('close', resolve))
      caller.abort()
    })
    let gone: Promise<unknown> | undefined
    await expect(gateway.call(callOf(target, { signal: caller.signal }))).rejects.toMatchObject({
      code: 'cancelled',
      mayHaveRun: true,
    })
    await gone
  })

  it('is disconnected when the gateway closes', async () => {
    const { agent, gateway, target } = await start(() => void gateway.close())
    await expect(gateway.call(callOf(target))).rejects.toMatchObject({ code: 'stopping' })
    while (agent.sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
  })

  it.each([
    ['invalid JSON', 'bad_response', '{"n":\n'],
    ['a message over the size limit', 'too_large', `"${'x'.repeat(9000)}"\n`],
    ['an incomplete line', 'timeout', `"${'x'.repeat(4000)}`],
  ])('that sends %s causes the error %s', async (_, code, text) => {
    const { gateway, target } = await start((_, send) => send(text))
    await expect(gateway.call(callOf(target, { timeoutMs: code === 'timeout' ? 300 : 10_000 }))).rejects.toMatchObject({
      code,
      mayHaveRun: true,
    })
  })

  it('that sends a part over the size limit breaks its stream', async () => {
    const { gateway, target } = await start((_, send) => {
      send(frame({ id: '1', data: 1 }))
      setTimeout(() => send(frame({ id: '1', data: 'x'.repeat(2000) })), 20)
    })
    const answer = await gateway.call(callOf(target, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    await expect(gather(eachPart(answer.batches))).rejects.toMatchObject({ code: 'too_large' })
  })

  it.each([1011, 1008])('that closes with the code %i causes an error', async (closeCode) => {
    const { gateway, target } = await start((_, _send, close) => close(closeCode))
    await expect(gateway.call(callOf(target))).rejects.toMatchObject({ code: 'bad_response' })
  })

  it('that closes without a response causes an error', async () => {
    const { gateway, target } = await start((_, _send, close) => close(1000))
    await expect(gateway.call(callOf(target))).rejects.toMatchObject({ code: 'bad_response' })
  })

  it('that rejects the handshake has its status kept; a redirect is not followed', async () => {
    const server = createServer()
    server.on('upgrade', (request, socket) => {
      const status = request.url === '/401' ? '401 Unauthorized' : '302 Found\r\nlocation: ws://127.0.0.1:1/'
      socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`)
    })
    const agent = await startHttpAgent(() => {})
    await agent.close()
    await new Promise<void>((resolve) => server.listen(agent.port, '127.0.0.1', resolve))
    const gateway = createTestGateway()
    open.push(gateway, { close: () => new Promise((resolve) => server.close(() => resolve())) })
    const call = (path: string) => gateway.call(callOf(endpoint(`ws://127.0.0.1:${agent.port}/${path}`, 'websocket')))
    expect(await call('401')).toMatchObject({ status: 401, kind: 'json', value: null })
    await expect(call('302')).rejects.toMatchObject({ code: 'bad_response', mayHaveRun: false })
  })

  it('times out after firstByteMs if it never completes the handshake', async () => {
    const agent = await startRawAgent((socket) => void socket.resume())
    const gateway = createTestGateway({ firstByteMs: 100, retries: 0 })
    open.push(gateway, agent)
    const call = callOf(endpoint(agent.url.replace('http', 'ws'), 'websocket'), { timeoutMs: 60_000 })
    await expect(gateway.call(call)).rejects.toMatchObject({
      code: 'timeout',
      message: 'no WebSocket handshake within 100 ms',
      mayHaveRun: false,
    })
    await expect.poll(() => agent.sockets.size).toBe(0)
  })

  it('times out with the call while the connection is being opened', async () => {
    const gateway = createTestGateway({ connectMs: 60_000 }, { resolve: () => new Promise(() => {}) })
    open.push(gateway)
    const call = callOf(endpoint('wss://agent.example/', 'websocket'), { timeoutMs: 50 })
    await expect(gateway.call(call)).rejects.toMatchObject({ code: 'timeout', mayHaveRun: false })
  })

  it('receives a close frame after its response', async () => {
    const server = createServer()
    const sockets = new WebSocketServer({ server })
    const closeCode = new Promise((resolve) => {
      sockets.on('connection', (socket) => {
        socket.on('message', () => socket.send(frame({ id: '1', result: 1 })))
        socket.on('close', resolve)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const gateway = createTestGateway()
    open.push(gateway, { close: () => new Promise((resolve) => server.close(() => resolve())) })
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    await gateway.call(callOf(endpoint(`ws://127.0.0.1:${port}/`, 'websocket')))
    expect(await closeCode).toBe(1000)
  })

  it('at an internal address is not called', async () => {
    const gateway = createTestGateway()
    open.push(gateway)
    await expect(gateway.call(callOf(endpoint('wss://10.0.0.1/', 'websocket')))).rejects.toMatchObject({
      code: 'blocked',
    })
  })
})
