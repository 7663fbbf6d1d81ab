import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { eachPart } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../../src/gateway/gateway.js'
import {
  callOf,
  createTestGateway,
  endpoint,
  gather,
  startHttpAgent,
  startRawAgent,
  startSocketAgent,
} from '../gateway/agent.js'
import { startMcpAgent } from '../gateway/mcp-agent.js'
import { fixed } from '../invoke/agent.js'
import { setUp } from '../invoke/setup.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'

const setup = setUp({ gateway: { timeoutMs: 1000 } })
const { register, call } = setup
const INPUT = { text: 'a' }

describe('an agent that responds with an invalid status', () => {
  it.each([304, 600, 799, 999])('AIDIP-5.2-10 fails as an invalid response: %s', async (status) => {
    const agent = await startRawAgent((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 ${status} Odd\r\ncontent-length: 0\r\n\r\n`)),
    )
    try {
      const body = aidipAgent({ id: 'x', endpoint: agent.url })
      expect((await setup.directory.post('/agents', { as: 'tokA', body })).status).toBe(201)
      expectError(await call(INPUT), { status: 502, code: 'agent_error' })
    } finally {
      await agent.close()
    }
  })
})

describe('an agent whose address consists of slashes', () => {
  it('does not block the directory, and is not called', async () => {
    const base = `http://127.0.0.1:1/${'/'.repeat(240_000)}x`
    const body = { base, protocols: ['a2a'], capabilities: [{ name: 'echo', type: 'skill' }] }
    const answer = await setup.directory.post('/ad/r?agent=x', { as: 'tokA', body })
    expect(answer.status, answer.text).toBe(201)
    expectError(await call(INPUT), { status: 501 })
  })

  it('C-44 has no endpoint that can be called', async () => {
    const endpoint = `http://127.0.0.1:1/${'x'.repeat(8192)}`
    const answer = await setup.directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'x', endpoint }) })
    expect(answer.status, answer.text).toBe(201)
    expectError(await call(INPUT), { status: 501 })
  })
})

describe('an agent that streams although the caller did not request it', () => {
  it('AIDIP-5.2-10 has the same deadline as any other call', async () => {
    await register()
    setup.agent.reply = async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      while (!response.destroyed) {
        response.write('data: {"n":1}\n\n')
        await sleep(50)
      }
    }
    expectError(await call(INPUT), { status: 504, code: 'timeout' })
  })
})

describe('an agent that sends Retry-After', () => {
  it('with an excessive value is not retried at once', async () => {
    await register()
    setup.agent.reply = fixed(null, 503, { 'retry-after': '999999999' })
    await call(INPUT, { headers: { prefer: 'respond-async' } })
    await expect.poll(() => setup.agent.calls.length).toBe(1)
    await sleep(300)
    expect(setup.agent.calls).toHaveLength(1)
  })
})

describe('an agent behind a WebSocket that sends pings and reads no pongs', () => {
  /** Megabytes of pings: more than the buffers of two sockets hold. */
  const FLOOD = 48

  it('does not fill the memory with pongs', async () => {
    const ping = Buffer.concat([Buffer.from([0x89, 125]), Buffer.alloc(125, 'x')])
    const pings = Buffer.concat(Array.from({ length: 8192 }, () => ping))
    let answered = 0
    const flooded = new EventEmitter()
    const done = once(flooded, 'done')
    const agent = await startRawAgent(async (socket) => {
      const [request] = await once(socket, 'data')
      const [, key = ''] = /sec-websocket-key: (\S+)/i.exec(String(request)) ?? []
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
      )
      socket.pause()
      for (let sent = 0; sent < FLOOD; sent++) if (!socket.write(pings)) await once(socket, 'drain')
      socket.on('data', (chunk) => {
        answered += chunk.length
      })
      socket.resume()
      await sleep(300)
      flooded.emit('done')
    })
    const gateway = createTestGateway()
    const giveUp = new AbortController()
    const target = endpoint(agent.url.replace('http', 'ws'), 'websocket')
    const called = gateway.call(callOf(target, { timeoutMs: 30_000, signal: giveUp.signal })).catch(() => {})
    await done
    giveUp.abort()
    await called
    expect(answered).toBeLessThan((FLOOD / 2) * 1024 * 1024)
    await gateway.close()
    await agent.close()
  })
})

describe('a response that is requested as a whole', () => {
  const SILENT_MS = 400
  /** Agents that start to respond at once, pause, and end. */
  const AGENTS: { protocol: Endpoint['protocol']; start: () => Promise<{ url: string; close(): Promise<void> }> }[] = [
    {
      protocol: 'http',
      start: () =>
        startHttpAgent(async (_, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n')
          await sleep(SILENT_MS)
          response.end('data: {"n":1}\n\n')
        }),
    },
    {
      protocol: 'mcp',
      start: () =>
        startMcpAgent(async () => {
          await sleep(SILENT_MS)
          return { content: [], structuredContent: { n: 1 } }
        }),
    },
    {
      protocol: 'websocket',
      start: () =>
        startSocketAgent(async (_, send) => {
          await sleep(SILENT_MS)
          send('{"id":"1","result":{"n":1}}\n')
        }),
    },
  ]

  it.each(AGENTS)(
    'may pause for as long as the call may take, but a stream may not: $protocol',
    async ({ protocol, start }) => {
      const agent = await start()
      const gateway = createTestGateway({ silenceMs: SILENT_MS / 4 })
      const read = async (wantsStream: boolean): Promise<unknown[]> => {
        const answer = await gateway.call(callOf({ protocol, url: agent.url }, { wantsStream }))
        if (answer.kind === 'stream') return (await gather(eachPart(answer.batches))).map(({ data }) => data)
        return answer.kind === 'json' ? [answer.value] : []
      }
      try {
        expect(await read(false)).toEqual([{ n: 1 }])
        await expect(read(true)).rejects.toMatchObject({ code: 'timeout' })
      } finally {
        await gateway.close()
        await agent.close()
      }
    },
  )
})
