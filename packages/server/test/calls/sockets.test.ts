import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { isObject, type JsonObject } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { CALLER_FRAMES, MESSAGES } from '../../../protocol/test-vectors/call/frames.js'
import { sendJson } from '../invoke/agent.js'
import { setUp } from '../invoke/setup.js'
import { startDirectory } from '../support/directory.js'

const setup = setUp()
const { register } = setup
const opened: WebSocket[] = []
afterEach(() => {
  for (const socket of opened.splice(0)) socket.terminate()
})

interface Connection {
  readonly socket: WebSocket
  /** Frames received so far. */
  readonly frames: JsonObject[]
  send(...frames: JsonObject[]): void
  /** The frames of one call, once it has ended. */
  answer(id: string | number): Promise<JsonObject[]>
}

async function connect(
  options: { url?: string; key?: string; path?: string; headers?: object } = {},
): Promise<Connection> {
  const { url = setup.directory.url, key = setup.directory.adminKey, path = '/agents/x/invoke', headers } = options
  const socket = new WebSocket(url.replace('http', 'ws') + path, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  })
  opened.push(socket)
  await once(socket, 'open')
  const frames: JsonObject[] = []
  socket.on('message', (data) => frames.push(JSON.parse(String(data))))
  const of = (id: string | number) => frames.filter((frame) => frame.id === id)
  const isOver = ({ result, error, done }: JsonObject): boolean =>
    [result, error, done].some((end) => end !== undefined)
  return {
    socket,
    frames,
    send: (...all) => socket.send(all.map((frame) => `${JSON.stringify(frame)}\n`).join('')),
    async answer(id) {
      await expect.poll(() => of(id).some(isOver)).toBe(true)
      return of(id)
    },
  }
}

/** An agent whose responses the test controls. */
function holdResponses(): Map<string, ServerResponse> {
  const open = new Map<string, ServerResponse>()
  setup.agent.reply = ({ json }, response) => {
    open.set(String(json.text), response)
  }
  return open
}

describe('calls in frames over one WebSocket', () => {
  it('AURI-8-06 get responses with their ids, in the order in which they finish', async () => {
    await register({ version: '1.2.0' })
    const open = holdResponses()
    const { send, answer, frames } = await connect()
    send({ id: '1', input: { text: 'one' } }, { id: 2, input: { text: 'two' }, operation: 'invoke' })
    await expect.poll(() => open.size).toBe(2)
    for (const text of ['two', 'one']) {
      const response = open.get(text)
      if (response) sendJson(response, { text })
      await answer(text === 'two' ? 2 : '1')
    }
    expect(frames).toEqual([
      { id: 2, result: { text: 'two' }, version: '1.2.0' },
      { id: '1', result: { text: 'one' }, version: '1.2.0' },
    ])
  })

  it.each(CALLER_FRAMES)(
    'AURI-8-06 are distinguished from a bare input by the first line: $name',
    async ({ line, isRequest }) => {
      await register()
      const { socket, frames } = await connect()
      socket.send(`${JSON.stringify(line)}\n`)
      if (isRequest) {
        await expect.poll(() => frames.length).toBeGreaterThan(0)
        expect(frames[0]).toMatchObject({ id: isObject(line) ? line.id : undefined })
        expect(socket.readyState).toBe(socket.OPEN)
      } else {
        // A bare input is one call, after which the socket is closed.
        await once(socket, 'close')
        expect(frames).toHaveLength(1)
      }
    },
  )

  it.each(CALLER_FRAMES)('AURI-8-06 follow the first frame: $name', async ({ line, frame }) => {
    await register()
    const { socket, send, answer, frames } = await connect()
    send({ id: 'first', input: { text: 'one' } })
    await answer('first')
    socket.send(`${JSON.stringify(line)}\n`)
    if (frame?.kind === 'request') await answer(frame.id)
    else if (frame) {
      // There is no reply to a cancellation.
      send({ id: 'last', input: { text: 'two' } })
      await answer('last')
      expect(frames.map(({ id }) => id)).toEqual(['first', 'last'])
    } else {
      const [code] = await once(socket, 'close')
      expect([code, frames.at(-1)]).toEqual([1008, { error: expect.objectContaining({ code: 'InvalidInput' }) }])
    }
  })

  it.each(MESSAGES)('AURI-8-06 arrive as $name', async ({ messages, lines }) => {
    await register()
    const { socket, answer } = await connect()
    for (const message of messages) socket.send(message)
    for (const line of lines) {
      const { id, input } = JSON.parse(line)
      expect(await answer(id)).toMatchObject([{ id, result: input }])
    }
  })

  it('AURI-8-06 AIDIP-5.3-01 get parts and an end if they request a stream, and otherwise one result', async () => {
    await register()
    setup.agent.reply = (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('event: word\ndata: {"n":1}\n\ndata: {"n":2}\n\n')
    const { send, answer } = await connect()
    send({ id: 'a', input: { text: 'a' }, stream: true }, { id: 'b', input: { text: 'a' } })
    const parts = [
      { id: 'a', data: { n: 1 }, event: 'word' },
      { id: 'a', data: { n: 2 } },
    ]
    expect(await answer('a')).toEqual([...parts, { id: 'a', done: true }])
    expect(await answer('b')).toMatchObject([{ id: 'b', result: [{ n: 1 }, { n: 2 }] }])
  })

  it('C-59 get errors with an HTTP status, and the socket stays open', async () => {
    await register()
    const { send, answer } = await connect()
    send({ id: '1', input: { text: 5 } })
    expect(await answer('1')).toMatchObject([{ error: { code: 'InvalidInput', status: 400 } }])
    send({ id: '2', input: {}, operation: 'none' })
    expect(await answer('2')).toMatchObject([{ error: { code: 'NotFound', status: 404 } }])
    send({ id: '3', input: { text: 'a' }, sessionId: 5 })
    expect(await answer('3')).toMatchObject([
      { error: { status: 400, message: expect.stringContaining('/sessionId') } },
    ])
    send({ id: '4', input: { text: 'a' } })
    expect(await answer('4')).toMatchObject([{ result: { text: 'a' } }])
  })

  it('AURI-8.1-05 carry the values of headers, and headers of the handshake apply to all', async () => {
    await register()
    const { send, answer } = await connect({ headers: { 'x-session-id': 's1' } })
    send({ id: '1', input: { text: 'a' }, taskId: 't1', requestId: 'r1', idempotencyKey: 'k-frame' })
    await answer('1')
    expect(setup.agent.calls[0]?.headers).toMatchObject({
      'x-session-id': 's1',
      'x-task-id': 't1',
      'x-request-id': 'r1',
      'idempotency-key': 'k-frame',
    })
    send({ id: '2', input: { text: 'a' }, sessionId: 's2' })
    expect(await answer('2')).toMatchObject([{ error: { status: 400, message: expect.stringContaining('sessionId') } }])
  })

  it('can be cancelled one by one, and are all cancelled when the socket closes', async () => {
    await register()
    const open = holdResponses()
    const { socket, send, frames } = await connect()
    send({ id: '1', input: { text: 'one' } }, { id: '2', input: { text: 'two' } })
    await expect.poll(() => open.size).toBe(2)
    const [first, second] = ['one', 'two'].map((text) => {
      const response = open.get(text)
      return response ? once(response, 'close') : undefined
    })
    send({ id: '1', cancel: true })
    await first
    expect(frames).toEqual([])
    socket.close()
    await second
  })

  it('are limited to 32 in progress, with different ids', async () => {
    await register()
    const open = holdResponses()
    const { send, answer } = await connect()
    send(...Array.from({ length: 32 }, (_, i) => ({ id: `c${i}`, input: { text: `${i}` } })))
    send({ id: 'c0', input: { text: 'again' } })
    expect(await answer('c0')).toMatchObject([{ error: { status: 409 } }])
    send({ id: 'more', input: { text: 'more' } })
    expect(await answer('more')).toMatchObject([{ error: { status: 503 } }])
    await expect.poll(() => open.size).toBe(32)
  })

  it('AIDIP-9-03 are rejected as soon as the key is revoked', async () => {
    await register()
    const body = { subject: 'leaving', scopes: ['invoke'] }
    const { json } = await setup.directory.post('/admin/keys', { as: 'admin', body })
    const { send, answer } = await connect({ key: json.key })
    send({ id: '1', input: { text: 'a' } })
    expect(await answer('1')).toMatchObject([{ result: { text: 'a' } }])
    await setup.directory.delete(`/admin/keys/${json.id}`, { as: 'admin' })
    send({ id: '2', input: { text: 'a' } })
    expect(await answer('2')).toMatchObject([{ error: { status: 401 } }])
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('AIDIP-9-12 each count as a call', async () => {
    const rateLimits = { search: 100, register: 100, lookup: 100, invoke: 2 }
    const directory = await startDirectory({ rateLimits })
    await directory.post('/agents', { as: 'tokA', body: setup.agent.document() })
    const key = await directory.makeKey({ subject: 'eager', scopes: ['invoke'] })
    const { send, answer } = await connect({ url: directory.url, key })
    for (const id of ['1', '2', '3']) {
      send({ id, input: { text: 'a' } })
      await answer(id)
    }
    expect(await answer('2')).toMatchObject([{ result: { text: 'a' } }])
    expect(await answer('3')).toMatchObject([{ error: { status: 429 } }])
    await directory.close()
  })

  it('AURI-8-06 close the socket if a line is not a frame', async () => {
    await register()
    const { socket, send, frames } = await connect()
    send({ id: '1', input: { text: 'a' } }, { text: 'b' })
    const [code] = await once(socket, 'close')
    expect(code).toBe(1008)
    expect(frames.at(-1)).toMatchObject({ error: { code: 'InvalidInput' } })
  })
})

describe('a first line that only looks like a frame', () => {
  it.each([
    { id: '1', input: 'a', text: 'b' },
    { input: { text: 'a' } },
    { id: { n: 1 }, input: 'a' },
    { id: '1', text: 'a' },
  ])('is the input itself: %j', async (input) => {
    await register({ inputs: { type: 'object' } })
    const { socket, send, frames } = await connect()
    send(input)
    const [code] = await once(socket, 'close')
    expect(code).toBe(1000)
    expect(frames).toEqual([input])
    expect(setup.agent.calls[0]?.json).toEqual(input)
  })
})
