import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClientError } from '../errors.js'
import { type Call, DEFAULT_LIMITS } from './call.js'
import { createDeadline } from './deadline.js'
import { createHttpTransport } from './http/http-transport.js'
import { readProblem, toClientError } from './problem.js'
import { openCallSocket } from './websocket/call-socket.js'
import type { SocketEvents } from './websocket/open-socket.js'

const limits = { ...DEFAULT_LIMITS, timeoutMs: 2000, silenceMs: 2000, waitMs: 2000, maxBytes: 2000, maxPartLength: 200 }

const call: Call = {
  uri: 'agent+https://h.example/p',
  endpoint: { transport: 'https', protocol: 'https', url: 'https://h.example/p' },
  url: 'https://h.example/p',
  method: 'POST',
  input: {},
  accept: [],
  identifiers: {},
  headers: {},
  limits,
  repeatable: false,
}

/** Fragments of valid responses, mixed with arbitrary text. */
const pieces = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'data: ',
    'data: {"a":1}',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    'event: error\n',
    'event: done\n',
    'id: 1\n',
    ': c\n',
  ),
  fc.constantFrom('{"id":"1",', '"data":1}', '{"id":"1","done":true}\n', '{"error":{"code":"x"}}\n', '[[[[', '\u0000'),
  fc.json({ maxDepth: 3 }),
)
const chunks = fc.array(
  fc.oneof(
    pieces.map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
  ),
  { maxLength: 30 },
)

const streamOf = (parts: readonly Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new Uint8Array(part))
      controller.close()
    },
  })

/** Runs the work; if it fails, the error must be a ClientError. */
async function settles(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    expect(error).toBeInstanceOf(ClientError)
  }
}

const drain = async (parts: AsyncIterable<unknown>): Promise<void> => {
  for await (const _part of parts) {
    // The parts do not matter, only that the stream ends.
  }
}

const transportWith = (body: ReadableStream<Uint8Array>, status: number, headers: Record<string, string>) =>
  createHttpTransport({
    fetch: async () => new Response(status === 204 ? null : body, { status, headers }),
    retry: { retries: 2, sleep: async () => {}, random: () => 0, now: () => 0 },
  })

describe('hostile responses', () => {
  const types = fc.constantFrom(
    'text/event-stream',
    'application/x-ndjson',
    'application/json',
    '',
    'text/html',
    'a/b; c="',
  )

  it('over HTTP end with parts or an error code', async () => {
    await fc.assert(
      fc.asyncProperty(
        chunks,
        types,
        fc.constantFrom(200, 202, 204, 206, 400, 429, 500, 599),
        async (parts, type, status) => {
          const headers = { 'content-type': type }
          await settles(() => drain(transportWith(streamOf(parts), status, headers).stream(call)))
          await settles(() => transportWith(streamOf(parts), status, headers).invoke(call))
        },
      ),
    )
  })

  it('of tasks end with a result or an error code', async () => {
    const tasks = fc.record(
      {
        taskId: fc.oneof(fc.string(), fc.nat()),
        status: fc.oneof(fc.string(), fc.constantFrom('completed', 'failed')),
        pollInterval: fc.oneof(fc.double(), fc.string()),
        result: fc.jsonValue(),
        error: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    const location = fc.oneof(
      fc.webUrl(),
      fc.constantFrom('/tasks/1', '//other.example/x', 'javascript:1', '', '\\x', 'http://['),
    )
    await fc.assert(
      fc.asyncProperty(tasks, tasks, location, async (first, then, at) => {
        let requests = 0
        const transport = createHttpTransport({
          fetch: async (input) => {
            expect(new URL(String(input)).origin).toBe('https://h.example')
            const body = JSON.stringify(requests++ === 0 ? first : requests > 5 ? null : then)
            return new Response(body, {
              status: requests === 1 ? 202 : 200,
              headers: { location: at, 'content-type': 'application/json' },
            })
          },
          retry: { retries: 0, sleep: async () => {}, random: () => 0, now: () => 0 },
        })
        await settles(() => transport.invoke(call))
      }),
    )
  })

  it('over WebSockets end with frames or an error code', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(pieces, { maxLength: 30 }),
        fc.constantFrom(1000, 1005, 1006, 1011),
        async (texts, code) => {
          let events: SocketEvents | undefined
          const deadline = createDeadline(2000, 'a call')
          const socket = await openCallSocket({
            open: async (request) => {
              events = request.events
              return { send: () => {}, close: () => {} }
            },
            url: 'wss://h.example/p',
            headers: {},
            maxBytes: 2000,
            deadline,
            onIdle: () => {},
          })
          const work = settles(() => drain(socket.start(call, true, deadline)))
          for (const text of texts) events?.onText(text)
          events?.onClose(code)
          await work
          deadline.clear()
          expect(socket.size).toBe(0)
        },
      ),
    )
  })

  it('produce error messages of limited length, whatever their shape', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer(), (value, status) => {
        const error = toClientError(readProblem(value) ?? {}, { status, details: value })
        expect(error.message.length).toBeLessThanOrEqual(501)
        expect(error.message).not.toMatch(/\p{Cc}/u)
      }),
    )
  })
})
