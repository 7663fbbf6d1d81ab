import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { AGENT_MESSAGES, MESSAGES, REPLIES } from '../../../protocol/test-vectors/call/frames.js'
import { type AgentCaller, createCaller, invokeAgent, streamAgent } from '../../src/index.js'
import { openInBrowser } from '../../src/transports/websocket/open-socket.js'
import { type AgentHost, codeOf, collect, fakeRetry, sendJson, startAgentHost } from './support/agent-host.js'

let host: AgentHost
let caller: AgentCaller

beforeAll(async () => {
  host = await startAgentHost()
})
afterAll(() => host.close())
beforeEach(() => {
  host.handlers = {}
  host.sockets = {}
  host.seen.length = 0
  caller = createCaller(settings())
})
afterEach(() => caller.close())

const settings = () => ({ fetch: host.fetch, allowPrivate: true, socketTls: { ca: host.ca }, retry: fakeRetry().retry })
const uri = (path: string, transport = 'agent+wss'): string => `${transport}://${host.authority}${path}`

type Request = ReturnType<typeof JSON.parse>

/** Serves sockets at a path; returns the frames received, in order, and the sockets. */
function serve(
  path: string,
  onRequest: (request: Request, socket: WebSocket) => void,
): { requests: Request[]; sockets: WebSocket[] } {
  const log: { requests: Request[]; sockets: WebSocket[] } = { requests: [], sockets: [] }
  host.sockets[path] = (socket) => {
    log.sockets.push(socket)
    socket.on('message', (data) => {
      for (const line of String(data)
        .split('\n')
        .filter((text) => text !== '')) {
        const request = JSON.parse(line)
        log.requests.push(request)
        onRequest(request, socket)
      }
    })
  }
  return log
}

const sendFrame = (socket: WebSocket, frame: object): void => socket.send(`${JSON.stringify(frame)}\n`)

describe('calls over wss', () => {
  it('AURI-6.1-02 opens a secure WebSocket at the same host and path, and messages arrive as a stream', async () => {
    const { requests } = serve('/p', ({ id }, socket) => {
      for (const n of [1, 2]) sendFrame(socket, { id, data: { n } })
      sendFrame(socket, { id, done: true })
    })
    const parts = await collect(streamAgent(uri('/p'), { text: 'hi' }, settings()))
    expect(parts).toEqual([{ data: { n: 1 } }, { data: { n: 2 } }])
    expect(requests[0]).toMatchObject({ input: { text: 'hi' }, stream: true })
  })

  it.each(REPLIES)('AURI-8-06 reads $name', async ({ lines, parts, error }) => {
    serve('/vector', (_, socket) => {
      for (const line of lines) socket.send(`${JSON.stringify(line)}\n`)
      socket.close(1000)
    })
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const part of caller.stream(uri('/vector'), {})) seen.push(part)
    })()
    if (error) await expect(reading).rejects.toMatchObject({ name: 'ClientError', ...error })
    else await reading
    expect(seen).toEqual(parts)
  })

  it.each([...MESSAGES, ...AGENT_MESSAGES])('AURI-8-06 reads $name', async ({ messages, lines }) => {
    serve('/vector', (_, socket) => {
      for (const message of messages) socket.send(message)
      socket.close(1000)
    })
    const parts = await collect(caller.stream(uri('/vector'), {}))
    expect(parts).toEqual(lines.map((line) => ({ data: JSON.parse(line) })))
  })

  it('returns a complete response, and an error with its status', async () => {
    serve('/p', ({ id, input }, socket) => {
      if (input.fail)
        sendFrame(socket, {
          id,
          error: {
            type: 'https://e.example/capability-not-found',
            title: 'Capability Not Found',
            status: 404,
            detail: 'no',
          },
        })
      else sendFrame(socket, { id, result: { ok: true }, version: '2.0.0' })
    })
    expect(await invokeAgent(uri('/p'), {}, settings())).toMatchObject({ output: { ok: true }, version: '2.0.0' })
    await expect(caller.invoke(uri('/p'), { fail: true })).rejects.toMatchObject({
      code: 'capability_not_found',
      status: 404,
    })
    expect(await codeOf(collect(caller.stream(uri('/p'), { fail: true })))).toBe('capability_not_found')
  })

  it('AURI-8.1-04 carries the identifiers in the envelope', async () => {
    const { requests } = serve('/p', ({ id }, socket) => sendFrame(socket, { id, result: null }))
    await caller.invoke(
      uri('/p'),
      {},
      {
        sessionId: 's1',
        taskId: 't1',
        version: '1.0.0',
        idempotencyKey: 'k',
        delegationChain: 'a,b',
        accept: 'application/ld+json',
      },
    )
    expect(requests[0]).toMatchObject({
      sessionId: 's1',
      taskId: 't1',
      version: '1.0.0',
      idempotencyKey: 'k',
      delegationChain: 'a,b',
      accept: ['application/ld+json'],
    })
  })

  it('AURI-6.1-07 uses wss if the descriptor names it, with the capability in the envelope', async () => {
    host.handlers['/planner/agent.json'] = (_seen, response) =>
      sendJson(response, 200, {
        name: 'planner',
        version: '1.0.0',
        capabilities: [{ name: 'plan' }],
        transport: { wss: `wss://${host.authority}/ws` },
      })
    const { requests } = serve('/ws', ({ id }, socket) => sendFrame(socket, { id, result: 'by wss' }))
    expect((await caller.invoke(uri('/planner/plan', 'agent'), { a: 1 })).output).toBe('by wss')
    expect(requests[0]).toMatchObject({ operation: 'plan', input: { a: 1 } })
  })

  it('AURI-6.1-07 uses https if the descriptor names no transport', async () => {
    host.handlers['/planner/agent.json'] = (_seen, response) =>
      sendJson(response, 200, { name: 'planner', version: '1.0.0', capabilities: [{ name: 'plan' }] })
    host.handlers['/planner/plan'] = (_seen, response) => sendJson(response, 200, 'by https')
    expect((await caller.invoke(uri('/planner/plan', 'agent'), {})).output).toBe('by https')
  })

  it('AURI-8-06 reads lines split between messages, several in one, and messages without a newline', async () => {
    serve('/p', ({ id }, socket) => {
      const first = JSON.stringify({ id, data: 'split é😀' })
      socket.send(first.slice(0, 9))
      socket.send(`${first.slice(9)}\n${JSON.stringify({ id, data: 2 })}\n`)
      socket.send(JSON.stringify({ id, data: 3 }))
      socket.send(JSON.stringify({ id, done: true }))
    })
    const parts = await collect(caller.stream(uri('/p')))
    expect(parts.map(({ data }) => data)).toEqual(['split é😀', 2, 3])
  })

  it('supports agents without frames: lines are parts, closing is the end', async () => {
    serve('/p', (_request, socket) => {
      socket.send('{"n":1}\n{"n":2}\n')
      socket.close(1000)
    })
    expect((await collect(caller.stream(uri('/p')))).map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('sends its credential with the handshake', async () => {
    let authorization: string | undefined
    host.sockets['/p'] = (socket, request) => {
      authorization = request.headers.authorization
      socket.on('message', (data) => sendFrame(socket, { id: JSON.parse(String(data)).id, result: null }))
    }
    await invokeAgent(uri('/p'), {}, { ...settings(), credentials: { type: 'bearer', token: 't' } })
    expect(authorization).toBe('Bearer t')
  })

  it('AURI-10-02 authenticates with a certificate if the host requests one', async () => {
    const strict = await startAgentHost({ requestCert: true })
    try {
      strict.sockets['/p'] = (socket) =>
        socket.on('message', (data) => sendFrame(socket, { id: JSON.parse(String(data)).id, result: 'in' }))
      const target = `agent+wss://${strict.authority}/p`
      const tls = { ...settings(), socketTls: { ca: strict.ca, ...strict.client } }
      expect((await invokeAgent(target, {}, tls)).output).toBe('in')
      expect(await codeOf(invokeAgent(target, {}, { ...settings(), socketTls: { ca: strict.ca } }))).toBe('unreachable')
    } finally {
      await strict.close()
    }
  })
})

describe('one socket for many calls', () => {
  it('matches responses to concurrent calls', async () => {
    const waiting: { id: string; n: number; socket: WebSocket }[] = []
    const { sockets } = serve('/p', ({ id, input }, socket) => {
      waiting.push({ id, n: input.n, socket })
      if (waiting.length < 3) return
      for (const call of waiting.reverse()) sendFrame(call.socket, { id: call.id, data: { n: call.n, part: 1 } })
      for (const call of waiting) sendFrame(call.socket, { id: call.id, data: { n: call.n, part: 2 } })
      for (const call of waiting) sendFrame(call.socket, { id: call.id, done: true })
    })
    const all = await Promise.all([1, 2, 3].map((n) => collect(caller.stream(uri('/p'), { n }))))
    expect(all.map((parts) => parts.map(({ data }) => data))).toEqual(
      [1, 2, 3].map((n) => [
        { n, part: 1 },
        { n, part: 2 },
      ]),
    )
    expect(sockets).toHaveLength(1)
  })

  it('cancels a call when its loop is left, and the others continue', async () => {
    const cancelled = new Promise<string>((resolve) => {
      serve('/p', ({ id, cancel, input }, socket) => {
        if (cancel) resolve(id)
        else if (input.endless) sendFrame(socket, { id, data: 1 })
        else sendFrame(socket, { id, result: 'whole' })
      })
    })
    for await (const _part of caller.stream(uri('/p'), { endless: true })) break
    expect(await cancelled).toBe('1')
    expect((await caller.invoke(uri('/p'), {})).output).toBe('whole')
  })

  it('opens another socket when one breaks, and repeats only calls that may run twice', async () => {
    let breaks = 1
    const { requests, sockets } = serve('/p', ({ id }, socket) => {
      if (breaks-- > 0) socket.terminate()
      else sendFrame(socket, { id, result: 'after all' })
    })
    expect((await caller.invoke(uri('/p'), {}, { idempotencyKey: 'k' })).output).toBe('after all')
    expect(requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['k', 'k'])
    breaks = 1
    expect(await codeOf(caller.invoke(uri('/p'), {}))).toBe('unreachable')
    expect(requests).toHaveLength(3)
    expect((await caller.invoke(uri('/p'), {})).output).toBe('after all')
    expect(sockets).toHaveLength(3)
  })
})

describe('hostile and broken sockets', () => {
  it.each([
    ['is not JSON', (socket: WebSocket) => socket.send('hello\n'), 'bad_response'],
    ['is binary', (socket: WebSocket) => socket.send(Buffer.from([1, 2, 3])), 'bad_response'],
    ['is too large', (socket: WebSocket) => socket.send('x'.repeat(30_000)), 'too_large'],
    [
      'is an endless line',
      (socket: WebSocket) => Array.from({ length: 30 }, () => socket.send('x'.repeat(1000))),
      'too_large',
    ],
    ['is an early close', (socket: WebSocket) => socket.close(1000), 'unreachable'],
    ['is a broken connection', (socket: WebSocket) => socket.terminate(), 'unreachable'],
  ])('fails with a code if the next message %s', async (_what, act, code) => {
    serve('/p', ({ id }, socket) => {
      sendFrame(socket, { id, data: 1 })
      act(socket)
    })
    expect(await codeOf(collect(caller.stream(uri('/p'), {}, { maxBytes: 20_000 })))).toBe(code)
  })

  it('rejects a part above the limit, and keeps the socket for other calls', async () => {
    serve('/p', ({ id, input, cancel }, socket) => {
      if (!cancel) sendFrame(socket, input.large ? { id, data: 'x'.repeat(2000) } : { id, result: 1 })
    })
    expect(await codeOf(collect(caller.stream(uri('/p'), { large: true }, { maxPartLength: 1000 })))).toBe('too_large')
    expect((await caller.invoke(uri('/p'), {})).output).toBe(1)
  })

  it('applies backpressure for a slow reader, and loses nothing', async () => {
    const count = 250
    const { sockets } = serve('/p', ({ id }, socket) => {
      for (let n = 0; n < count; n++) sendFrame(socket, { id, data: { n, filler: 'x'.repeat(60_000) } })
      sendFrame(socket, { id, done: true })
    })
    const seen: unknown[] = []
    for await (const { data } of caller.stream(uri('/p'))) {
      if (seen.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 300))
        // Far more than fits into the system's buffers has not left the agent yet.
        expect(sockets[0]?.bufferedAmount).toBeGreaterThan(5_000_000)
      }
      seen.push(JSON.parse(JSON.stringify(data)).n)
    }
    expect(seen).toEqual(Array.from({ length: count }, (_, n) => n))
  })

  it('fails with a code if there is no socket, no response, or the caller aborts', async () => {
    serve('/hang', () => {})
    expect(await codeOf(caller.invoke(uri('/nothing'), {}))).toBe('not_found')
    expect(await codeOf(caller.invoke(uri('/hang'), {}, { timeoutMs: 50 }))).toBe('timeout')
    const controller = new AbortController()
    const work = caller.invoke(uri('/hang'), {}, { signal: controller.signal })
    controller.abort()
    expect(await codeOf(work)).toBe('aborted')
    expect(await codeOf(invokeAgent('agent+wss://127.0.0.1:1/p', {}, settings()))).toBe('unreachable')
    expect(await codeOf(caller.invoke(uri('/hang'), new Uint8Array(1)))).toBe('invalid_argument')
  })

  it('trusts only the configured CAs', async () => {
    serve('/p', ({ id }, socket) => sendFrame(socket, { id, result: 1 }))
    expect(await codeOf(invokeAgent(uri('/p'), {}, { ...settings(), socketTls: {} }))).toBe('unreachable')
  })
})

describe('with the browser’s WebSocket', () => {
  const inBrowser = () => ({ ...settings(), openSocket: openInBrowser })

  beforeEach(() => {
    const { ca } = host
    // The same interface as in browsers, which have their own list of CAs.
    vi.stubGlobal(
      'WebSocket',
      class extends WebSocket {
        constructor(url: string) {
          super(url, { ca })
        }
      },
    )
  })
  afterEach(() => vi.unstubAllGlobals())

  it('streams and invokes', async () => {
    serve('/p', ({ id, stream }, socket) => {
      if (!stream) return sendFrame(socket, { id, result: 'whole' })
      sendFrame(socket, { id, data: 1 })
      sendFrame(socket, { id, done: true })
    })
    expect(await collect(streamAgent(uri('/p'), {}, inBrowser()))).toEqual([{ data: 1 }])
    expect((await invokeAgent(uri('/p'), {}, inBrowser())).output).toBe('whole')
  })

  it('fails with a code if the browser cannot do it', async () => {
    serve('/bytes', (_request, socket) => socket.send(Buffer.from([1])))
    serve('/large', (_request, socket) => socket.send('x'.repeat(3000)))
    expect(await codeOf(invokeAgent(uri('/nothing'), {}, inBrowser()))).toBe('unreachable')
    expect(await codeOf(invokeAgent(uri('/bytes'), {}, inBrowser()))).toBe('bad_response')
    expect(await codeOf(invokeAgent(uri('/large'), {}, { ...inBrowser(), maxBytes: 2000 }))).toBe('bad_response')
    const withKey = { ...inBrowser(), credentials: { type: 'bearer', token: 't' } as const }
    expect(await codeOf(invokeAgent(uri('/bytes'), {}, withKey))).toBe('unsupported_transport')
    vi.stubGlobal('WebSocket', undefined)
    expect(await codeOf(invokeAgent(uri('/bytes'), {}, inBrowser()))).toBe('unsupported_transport')
  })
})
