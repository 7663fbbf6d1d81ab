import { streamAgent } from '@switchboard/client'
import type { JsonObject } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { CALLER_FRAMES, MESSAGES } from '../../protocol/test-vectors/call/frames.js'
import { WRITTEN_STREAMS } from '../../protocol/test-vectors/call/streams.js'
import { AgentError } from '../src/index.js'
import { closeAll, count, echo, makeAgent, startAgent, until } from './support/agents.js'

afterEach(closeAll)

const EVENTS = 'text/event-stream'
const LINES = 'application/x-ndjson'

const request = (url: string, body: object, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })

/** A capability that yields parts forever, and records how it is stopped. */
const endless = () => {
  const seen = { parts: 0, isStopped: false, isAborted: false }
  const capability = {
    name: 'endless',
    async *handler(_: object, { signal }: { signal: AbortSignal }) {
      signal.addEventListener('abort', () => {
        seen.isAborted = true
      })
      try {
        for (;;) {
          seen.parts++
          yield { text: 'x'.repeat(10_000) }
        }
      } finally {
        seen.isStopped = true
      }
    },
  }
  return { seen, capability }
}

const breaking = {
  name: 'breaking',
  async *handler() {
    yield 1
    throw new AgentError('unavailable', 'out of words')
  },
}

describe('a stream over HTTP', () => {
  it('consists of server-sent events with an end mark', async () => {
    const { url } = await startAgent({ capabilities: [count] })
    const response = await request(`${url}/count`, { to: 2 }, { accept: EVENTS })
    expect(response.headers.get('content-type')).toBe(EVENTS)
    expect(await response.text()).toBe('data: {"n":1}\n\ndata: {"n":2}\n\nevent: end\ndata: {}\n\n')
  })

  it.each(WRITTEN_STREAMS)('C-59 AURI-8-09 is written as $name, in both formats', async ({ parts, events, lines }) => {
    const written = {
      name: 'written',
      streaming: true,
      async *handler() {
        for (const { data } of parts) yield data
      },
    }
    const { url } = await startAgent({ capabilities: [written] })
    expect(await (await request(`${url}/written`, {}, { accept: EVENTS })).text()).toBe(events)
    expect(await (await request(`${url}/written`, {}, { accept: LINES })).text()).toBe(lines)
  })

  it('consists of lines if the caller prefers them, and of events for the member stream', async () => {
    const { url } = await startAgent({ capabilities: [count] })
    const lines = await request(`${url}/count`, { to: 2 }, { accept: LINES })
    expect(await lines.text()).toBe('{"n":1}\n{"n":2}\n')
    const events = await request(`${url}/count`, { to: 1, stream: true }, {})
    expect(events.headers.get('content-type')).toBe(EVENTS)
    await events.text()
  })

  it('has one part if the capability does not stream', async () => {
    const { url } = await startAgent()
    const response = await request(`${url}/echo`, { text: 'a' }, { accept: LINES })
    expect(await response.text()).toBe('{"text":"a"}\n')
  })

  it('has an error status if the handler fails before the first part', async () => {
    const { url } = await startAgent({
      capabilities: [
        {
          name: 'breaking',
          async *handler() {
            await Promise.resolve()
            if (Date.now() > 0) throw new AgentError('conflict', 'not now')
            yield 1
          },
        },
      ],
    })
    expect((await request(`${url}/breaking`, {}, { accept: EVENTS })).status).toBe(409)
  })

  it('reports an error after the first part in the stream, and then has no end mark', async () => {
    const { url } = await startAgent({ capabilities: [breaking] })
    const events = await (await request(`${url}/breaking`, {}, { accept: EVENTS })).text()
    expect(events).toMatch(/^data: 1\n\nevent: error\ndata: \{.*"status":503.*\}\n\n$/)
    const lines = (await (await request(`${url}/breaking`, {}, { accept: LINES })).text()).trim().split('\n')
    expect(JSON.parse(lines[1] ?? '').error).toMatchObject({ status: 503, detail: 'out of words' })
  })

  it('is read by the client, including errors', async () => {
    const { host } = await startAgent({ capabilities: [count, breaking] })
    const parts: unknown[] = []
    const read = async (name: string, input: object): Promise<void> => {
      const stream = streamAgent(`agent://${host}/${name}`, { ...input }, { httpLoopback: true })
      for await (const { data } of stream) parts.push(data)
    }
    await read('count', { to: 2 })
    await expect(read('breaking', {})).rejects.toMatchObject({ code: 'unavailable' })
    expect(parts).toEqual([{ n: 1 }, { n: 2 }, 1])
  })

  it('ends the handler when its reader disconnects', async () => {
    const { seen, capability } = endless()
    const { url } = await startAgent({ capabilities: [capability] })
    const leaving = new AbortController()
    const response = await request(`${url}/endless`, {}, { accept: LINES }, leaving.signal)
    await response.body?.getReader().read()
    leaving.abort()
    await until(
      () => seen.isStopped && seen.isAborted,
      (isOver) => isOver,
    )
    expect(seen).toMatchObject({ isStopped: true, isAborted: true })
  })

  it('ends the handler when its reader cancels, without a server in between', async () => {
    const { seen, capability } = endless()
    const agent = makeAgent({ capabilities: [capability] })
    const headers = { accept: LINES, 'content-type': 'application/json' }
    const response = await agent.fetch(new Request('http://h.example/endless', { method: 'POST', body: '{}', headers }))
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await until(
      () => seen.isStopped && seen.isAborted,
      (isOver) => isOver,
    )
    expect(seen).toMatchObject({ isStopped: true, isAborted: true })
  })

  it('produces no parts that nobody reads', async () => {
    const { seen, capability } = endless()
    const { url } = await startAgent({ capabilities: [capability] })
    const leaving = new AbortController()
    await request(`${url}/endless`, {}, { accept: LINES }, leaving.signal)
    // The buffers in between fill up, and then no more parts are produced.
    let before = -1
    await until(
      async () => {
        before = seen.parts
        await new Promise((resolve) => setTimeout(resolve, 100))
        return seen.parts
      },
      (parts) => parts === before,
    )
    expect(seen.parts).toBe(before)
    expect(seen.parts).toBeLessThan(5000)
    leaving.abort()
  })
})

/** Opens a socket and collects the lines that it receives. */
async function openSocket(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers })
  const lines: ReturnType<typeof JSON.parse>[] = []
  let text = ''
  socket.on('message', (data) => {
    text += String(data)
    const whole = text.split('\n')
    text = whole.pop() ?? ''
    for (const line of whole) lines.push(JSON.parse(line))
  })
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  return {
    socket,
    lines,
    send: (frame: object) => socket.send(`${JSON.stringify(frame)}\n`),
    wait: (count: number) =>
      until(
        () => lines,
        (all) => all.length >= count,
      ),
  }
}

const refusalOf = (url: string, headers: Record<string, string> = {}): Promise<number | undefined> =>
  new Promise((resolve) => {
    new WebSocket(url.replace(/^http/, 'ws'), { headers })
      .on('unexpected-response', (_request, response) => resolve(response.resume().statusCode))
      .on('open', () => resolve(undefined))
      .on('error', () => {})
  })

describe('calls over a WebSocket', () => {
  it('AURI-8-06 AURI-8-09 have the same parts as over HTTP, one line of JSON each', async () => {
    const { url } = await startAgent({ capabilities: [count] })
    const { socket, send, wait } = await openSocket(`${url}/count`)
    send({ id: '1', input: { to: 3 }, stream: true })
    const lines = await wait(4)
    const overHttp = await (await request(`${url}/count`, { to: 3 }, { accept: LINES })).text()
    expect(lines.slice(0, 3).map(({ data }) => data)).toEqual(
      overHttp
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
    expect(lines[3]).toEqual({ id: '1', done: true, version: '2.1.0' })
    socket.close()
  })

  it('AURI-8-06 may be split over several messages, and may be concurrent', async () => {
    const { url } = await startAgent({ capabilities: [echo] })
    const { socket, wait } = await openSocket(url)
    const frame = (id: string) => JSON.stringify({ id, operation: 'echo', input: { text: id } })
    socket.send(frame('a').slice(0, 10))
    socket.send(`${frame('a').slice(10)}\n${frame('b')}\n${frame('c').slice(0, 3)}`)
    socket.send(`${frame('c').slice(3)}\n`)
    const lines = await wait(3)
    expect(lines.map(({ id, result }) => [id, result.text]).sort()).toEqual([
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ])
    socket.close()
  })

  it.each(CALLER_FRAMES)('AURI-8-06 read $name', async ({ line, frame }) => {
    const { url } = await startAgent({ capabilities: [{ name: 'free', handler: (input: JsonObject) => ({ input }) }] })
    const { socket, lines, wait } = await openSocket(`${url}/free`)
    socket.send(`${JSON.stringify(line)}\n`)
    if (frame?.kind === 'cancel') {
      // It gets no reply, but the socket stays open.
      socket.send('{"id":"after"}\n')
      expect((await wait(1))[0].id).toBe('after')
    } else if (frame) {
      expect((await wait(1))[0]).toMatchObject({ id: frame.id, result: { input: frame.input } })
    } else {
      await new Promise((resolve) => socket.on('close', resolve))
      expect(lines).toMatchObject([{ error: { status: 400 } }])
    }
    socket.close()
  })

  it.each(MESSAGES)('AURI-8-06 arrive as $name', async ({ messages, lines: sent }) => {
    const { url } = await startAgent({ capabilities: [echo] })
    const { socket, wait } = await openSocket(`${url}/echo`)
    for (const message of messages) socket.send(message)
    const replies = await wait(sent.length)
    expect(replies.map(({ id, result }) => ({ id, input: result })).sort((a, b) => a.id - b.id)).toEqual(
      sent.map((line) => JSON.parse(line)),
    )
    socket.close()
  })

  it('AURI-9-05 report errors with type, title, detail and status', async () => {
    const { url } = await startAgent()
    const { socket, send, wait } = await openSocket(url)
    send({ id: 7, operation: 'missing', input: {} })
    const [line] = await wait(1)
    expect(line).toEqual({
      id: 7,
      error: expect.objectContaining({
        type: expect.any(String),
        title: 'Capability Not Found',
        status: 404,
        detail: expect.any(String),
      }),
    })
    socket.close()
  })

  it('AURI-8.1-05 read identifiers from the envelope', async () => {
    const where = {
      name: 'where',
      handler: (_: object, context: { session?: { id: string }; taskId?: string }) => [
        context.session?.id ?? '',
        context.taskId ?? '',
      ],
    }
    const { url } = await startAgent({ capabilities: [where] })
    const { socket, send, wait } = await openSocket(url)
    send({ id: '1', input: {}, sessionId: 's1', taskId: 't1' })
    const [line] = await wait(1)
    expect(line).toMatchObject({ result: ['s1', 't1'], sessionId: 's1' })
    socket.close()
  })

  it('can be cancelled one by one', async () => {
    const { seen, capability } = endless()
    const { url } = await startAgent({ capabilities: [capability, echo] })
    const { socket, send, wait, lines } = await openSocket(url)
    send({ id: '1', operation: 'endless', input: {}, stream: true })
    await wait(1)
    send({ id: '1', cancel: true })
    await until(
      () => seen.isStopped,
      (isStopped) => isStopped,
    )
    send({ id: '2', operation: 'echo', input: { text: 'still here' } })
    await until(
      () => lines.at(-1),
      (line) => line?.id === '2',
    )
    expect(lines.at(-1)).toMatchObject({ result: { text: 'still here' } })
    expect(lines.some(({ id, done }) => id === '1' && done)).toBe(false)
    socket.close()
  })

  it('end with their socket', async () => {
    const { seen, capability } = endless()
    const { url } = await startAgent({ capabilities: [capability] })
    const { socket, send, wait } = await openSocket(url)
    send({ id: '1', input: {}, stream: true })
    await wait(1)
    socket.terminate()
    await until(
      () => seen.isStopped && seen.isAborted,
      (isOver) => isOver,
    )
    expect(seen).toMatchObject({ isStopped: true, isAborted: true })
  })

  it('may finish before the agent stops, and then the socket is closed', async () => {
    const resolvers: ((value: string) => void)[] = []
    const slow = { name: 'slow', handler: () => new Promise<string>((resolve) => resolvers.push(resolve)) }
    const { agent, url } = await startAgent({ capabilities: [slow] })
    const { socket, send, lines } = await openSocket(url)
    const closed = new Promise((resolve) => socket.on('close', resolve))
    send({ id: '1', input: {} })
    await until(
      () => resolvers.length,
      (length) => length === 1,
    )
    const stopped = agent.close()
    resolvers[0]?.('just in time')
    expect(await closed).toBe(1001)
    await stopped
    expect(lines).toEqual([expect.objectContaining({ id: '1', result: 'just in time' })])
  })

  it('share one socket of the client', async () => {
    const { host } = await startAgent({ capabilities: [count] })
    const options = { httpLoopback: true, static: { [`agent://${host}`]: { descriptor: wsOnly(host) } } }
    const parts: unknown[] = []
    for await (const { data } of streamAgent(`agent://${host}/count`, { to: 2 }, options)) parts.push(data)
    expect(parts).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('end with an error if a line is not a frame', async () => {
    const { url } = await startAgent()
    const { socket, wait } = await openSocket(url)
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.send('{"no":"id"}\n')
    expect((await wait(1))[0].error.status).toBe(400)
    expect(await closed).toBe(1008)
  })

  it('AURI-10-06 need the same credentials as over HTTP, at the handshake', async () => {
    const { url } = await startAgent({ authentication: { apiKeys: [{ subject: 'ann', key: 'secret' }] } })
    expect(await refusalOf(url)).toBe(401)
    expect(await refusalOf(url, { authorization: 'Bearer wrong' })).toBe(401)
    const { socket, send, wait } = await openSocket(url, { authorization: 'Bearer secret' })
    send({ id: '1', input: { text: 'a' } })
    expect((await wait(1))[0].result).toEqual({ text: 'a' })
    socket.close()
  })

  it('are rejected from web pages of other origins', async () => {
    const { url } = await startAgent({ origins: ['https://page.example'] })
    expect(await refusalOf(url, { origin: 'https://evil.example' })).toBe(403)
    expect(await refusalOf(url, { host: 'evil.example' })).toBe(421)
    expect(await refusalOf(`${url}/missing`)).toBe(404)
    const { socket } = await openSocket(url, { origin: 'https://page.example' })
    socket.close()
  })
})

const wsOnly = (host: string) => ({
  name: 'tester',
  version: '2.1.0',
  capabilities: [{ name: 'count' }],
  transport: { ws: `ws://${host}/` },
})
