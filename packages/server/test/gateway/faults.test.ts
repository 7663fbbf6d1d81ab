import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { eachPart } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { Gateway } from '../../src/gateway/gateway.js'
import { callOf, createTestGateway, failure, gather, startHttpAgent, startRawAgent, type TestAgent } from './agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

/** An agent that handles each connection itself once it has received a request. */
async function start(
  onRequest: (socket: Socket) => void,
  options: Parameters<typeof createTestGateway>[0] = {},
): Promise<{ agent: TestAgent; gateway: Gateway }> {
  const agent = await startRawAgent((socket) => socket.once('data', () => onRequest(socket)).resume())
  const gateway = createTestGateway(options)
  open.push(gateway, agent)
  return { agent, gateway }
}

const JSON_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n'

/** Waits until the gateway has closed all connections to the agent. */
async function released(agent: TestAgent): Promise<void> {
  while (agent.sockets.size > 0) await sleep(10)
}

describe('an agent that', () => {
  it('AIDIP-5.2-10 hangs is cut off at the timeout', async () => {
    const { agent, gateway } = await start(() => {})
    const error = await failure(gateway.call(callOf(agent.url, { timeoutMs: 100 })))
    expect(error).toMatchObject({ name: 'GatewayError', code: 'timeout', mayHaveRun: true })
    await released(agent)
  })

  it('accepts no connection is cut off sooner', async () => {
    // 198.18.0.0/15 is reserved for benchmarks: packets are lost, or rejected at once.
    const gateway = createTestGateway({ allow: ['198.18.0.0/15'], connectMs: 100, retries: 0 })
    open.push(gateway)
    const error = await failure(gateway.call(callOf('https://198.18.0.1/', { timeoutMs: 60_000 })))
    expect(error).toMatchObject({ mayHaveRun: false, code: expect.stringMatching(/^(timeout|unreachable)$/) })
  })

  it('sends no response headers is cut off after firstByteMs', async () => {
    const { agent, gateway } = await start(() => {}, { firstByteMs: 100 })
    const error = await failure(gateway.call(callOf(agent.url, { timeoutMs: 60_000 })))
    expect(error).toMatchObject({ code: 'timeout', mayHaveRun: true })
    await released(agent)
  })

  it.each([
    ['its headers', 'HTTP/1.1 200 OK\r\nx-slow: '],
    ['its body', `${JSON_HEAD}content-length: 1000\r\n\r\n`],
    ['chunks of its body', `${JSON_HEAD}transfer-encoding: chunked\r\n\r\n`],
  ])('sends %s byte by byte is cut off at the timeout', async (what, begin) => {
    const { agent, gateway } = await start(async (socket) => {
      socket.write(begin)
      while (!socket.destroyed) {
        socket.write(what.startsWith('chunks') ? '1\r\n \r\n' : ' ')
        await sleep(10)
      }
    })
    const error = await failure(gateway.call(callOf(agent.url, { timeoutMs: 200 })))
    expect(error).toMatchObject({ code: 'timeout', mayHaveRun: true })
    await released(agent)
  })

  it('stalls in its stream is cut off after silenceMs', async () => {
    const { agent, gateway } = await start((socket) => socket.write(`${STREAM_HEAD}data: 1\n\n`), { silenceMs: 100 })
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    const parts = eachPart(answer.batches)
    expect((await parts.next()).value).toEqual({ data: 1 })
    await expect(parts.next()).rejects.toMatchObject({ code: 'timeout', mayHaveRun: true })
    await released(agent)
  })

  it('streams without end is cut off after streamMs', async () => {
    const { agent, gateway } = await start(
      async (socket) => {
        socket.write(STREAM_HEAD)
        while (!socket.destroyed) {
          socket.write('data: 1\n\n')
          await sleep(10)
        }
      },
      { streamMs: 300 },
    )
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    await expect(gather(eachPart(answer.batches))).rejects.toMatchObject({ code: 'timeout' })
    await released(agent)
  })

  it('streams longer than the timeout of the call is read to the end', async () => {
    const { agent, gateway } = await start(async (socket) => {
      socket.write(STREAM_HEAD)
      for (let i = 0; i < 15; i++) {
        socket.write('data: 1\n\n')
        await sleep(100)
      }
      socket.end('data: [DONE]\n\n')
    })
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true, timeoutMs: 1000 }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    expect(await gather(eachPart(answer.batches))).toHaveLength(15)
  })

  it('streams to a reader that does not read is disconnected', async () => {
    const { agent, gateway } = await start((socket) => socket.write(`${STREAM_HEAD}data: 1\n\n`), { silenceMs: 100 })
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true }))
    await released(agent)
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    await expect(gather(eachPart(answer.batches))).rejects.toMatchObject({ code: 'timeout' })
  })

  it.each([
    ['before its response', '', 'unreachable'],
    ['within its headers', 'HTTP/1.1 200 OK\r\nx-a', 'unreachable'],
    ['within its body', `${JSON_HEAD}content-length: 100\r\n\r\n{"a":`, 'bad_response'],
    ['within a chunk', `${JSON_HEAD}transfer-encoding: chunked\r\n\r\n5\r\n{"a`, 'bad_response'],
  ])('closes the connection %s causes an error', async (_where, begin, code) => {
    const { agent, gateway } = await start((socket) => socket.end(begin))
    const error = await failure(gateway.call(callOf(agent.url)))
    expect(error).toMatchObject({ code, mayHaveRun: true })
    await released(agent)
  })

  it('closes the connection within its stream causes an error', async () => {
    const { agent, gateway } = await start((socket) =>
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n`,
      ),
    )
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    const parts = eachPart(answer.batches)
    // The error may arrive before the part; it must not look like the end of the stream.
    const read = async (): Promise<void> => {
      expect(await parts.next()).toEqual({ done: false, value: { data: 1 } })
      await parts.next()
    }
    await expect(read()).rejects.toMatchObject({ code: 'bad_response' })
    await released(agent)
  })

  it.each([
    ['with a content length', `content-length: ${100 * 1024 * 1024}\r\n\r\n`],
    ['without a content length', '\r\n'],
  ])('sends 100 MB (%s) is cut off at the size limit', async (_how, head) => {
    let sent = 0
    const { agent, gateway } = await start(async (socket) => {
      socket.write(`${JSON_HEAD}${head}"`)
      const block = Buffer.alloc(64 * 1024, 'x')
      while (!socket.destroyed && sent < 100 * 1024 * 1024) {
        sent += block.length
        if (!socket.write(block)) {
          await new Promise<void>((resolve) => {
            socket.once('drain', resolve)
            setTimeout(resolve, 100)
          })
        }
      }
    })
    const error = await failure(gateway.call(callOf(agent.url, { timeoutMs: 15_000 })))
    expect(error).toMatchObject({ code: 'too_large', mayHaveRun: true })
    await released(agent)
    expect(sent).toBeLessThan(30 * 1024 * 1024)
  })

  it.each([
    ['10,000 headers', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(10_000)}\r\n{}`],
    ['10,000 tiny headers', `${JSON_HEAD}${'a:\r\n'.repeat(10_000)}content-length: 1\r\n\r\n1`],
    ['one large header', `HTTP/1.1 200 OK\r\nx-a: ${'b'.repeat(1_000_000)}\r\n\r\n{}`],
    [
      'many informational responses',
      `${'HTTP/1.1 103 Early\r\nx-a: b\r\n\r\n'.repeat(10)}${JSON_HEAD}x: ${'b'.repeat(40_000)}\r\n\r\n1`,
    ],
  ])('responds with %s is rejected', async (_what, bytes) => {
    const { agent, gateway } = await start((socket) => socket.write(bytes))
    const error = await failure(gateway.call(callOf(agent.url)))
    expect(error).toMatchObject({ code: 'bad_response', mayHaveRun: true })
    await released(agent)
  })

  it.each([
    ['not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['two lengths', `${JSON_HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\n11`],
    ['a length and chunks', `${JSON_HEAD}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n`],
    ['not JSON', `${JSON_HEAD}content-length: 6\r\n\r\n<html>`],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ])('responds with %s is rejected', async (_what, bytes) => {
    const { agent, gateway } = await start((socket) => socket.write(bytes))
    const error = await failure(gateway.call(callOf(agent.url)))
    expect(error).toMatchObject({ code: expect.stringMatching(/^(bad_response|unreachable)$/), mayHaveRun: true })
  })

  it('sends two responses to one call has only the first one read', async () => {
    const one = `${JSON_HEAD}content-length: 1\r\n\r\n1`
    const { agent, gateway } = await start((socket) => socket.write(one + one.replace(/1$/, '2')))
    expect(await gateway.call(callOf(agent.url))).toMatchObject({ value: 1 })
    expect(await gateway.call(callOf(agent.url))).toMatchObject({ value: 1 })
  })

  it('redirects to a private address causes an error', async () => {
    const inside = await startHttpAgent((_, response) => response.end('secret'))
    open.push(inside)
    for (const location of [inside.url, 'http://169.254.169.254/latest/meta-data', 'https://10.0.0.1/', '//10.0.0.1']) {
      for (const status of [301, 302, 303, 307, 308]) {
        const { agent, gateway } = await start((socket) =>
          socket.write(`HTTP/1.1 ${status} Elsewhere\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
        )
        const error = await failure(gateway.call(callOf(agent.url)))
        expect(error).toMatchObject({ code: 'bad_response', message: expect.stringContaining('redirect') })
      }
    }
    expect(inside.connections()).toBe(0)
  })
})
