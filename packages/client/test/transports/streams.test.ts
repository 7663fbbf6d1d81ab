import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EVENT_STREAMS, NDJSON_STREAMS } from '../../../protocol/test-vectors/call/streams.js'
import { type InvokeOptions, invokeAgent, streamAgent } from '../../src/index.js'
import { type AgentHost, always, codeOf, collect, fakeRetry, sendJson, startAgentHost } from './support/agent-host.js'

let host: AgentHost
let options: InvokeOptions

beforeAll(async () => {
  host = await startAgentHost()
})
afterAll(() => host.close())
beforeEach(() => {
  host.handlers = {}
  host.seen.length = 0
  options = { fetch: host.fetch, allowPrivate: true, retry: fakeRetry().retry }
})

const uri = (path: string): string => `agent+https://${host.authority}${path}`

/** Streams text in these chunks. */
function serve(path: string, type: string, ...pieces: string[]): void {
  host.handlers[path] = async (_seen, response) => {
    response.writeHead(200, { 'content-type': type })
    for (const piece of pieces) await new Promise((written) => response.write(piece, written))
    response.end()
  }
}

const SSE = 'text/event-stream'
const NDJSON = 'application/x-ndjson'

describe('a stream', () => {
  it.each([
    ...EVENT_STREAMS.map((vector) => ({ type: SSE, ...vector })),
    ...NDJSON_STREAMS.map((vector) => ({ type: NDJSON, ...vector })),
  ])('C-59 of $type is read: $name', async ({ type, body, parts, fails }) => {
    serve('/vector', type, body)
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const part of streamAgent(uri('/vector'), {}, options)) seen.push(part)
    })()
    if (fails) expect(await codeOf(reading)).toBe('remote_error')
    else await reading
    expect(seen).toEqual(parts)
  })
})

describe('server-sent events', () => {
  it('AURI-8-05 returns events in order and ends at the end mark', async () => {
    serve(
      '/chat',
      `${SSE}; charset=utf-8`,
      ': hello\n\ndata: {"n":1}\n\nevent: note\nid: 7\ndata: {"n":',
      '2}\n\nevent: done\ndata: {}\n\ndata: {"n":3}\n\n',
    )
    expect(await collect(streamAgent(uri('/chat'), { text: 'hi' }, options))).toEqual([
      { data: { n: 1 } },
      { data: { n: 2 }, event: 'note', id: '7' },
    ])
    expect(host.calls[0]).toMatchObject({ method: 'POST', json: { text: 'hi' } })
    expect(host.calls[0]?.headers.accept).toMatch(/^text\/event-stream/)
  })

  it('reads CR, LF and CR LF, split anywhere, and data on several lines', async () => {
    const text = 'data: [1,\r\ndata: 2]\r\n\r\ndata: "é😀"\r\rdata: 3\n\n'
    const bytes = Buffer.from(text)
    for (let cut = 1; cut < bytes.length; cut++) {
      host.handlers['/chat'] = (_seen, response) => {
        response.writeHead(200, { 'content-type': SSE })
        response.write(bytes.subarray(0, cut))
        setImmediate(() => response.end(bytes.subarray(cut)))
      }
      const parts = await collect(streamAgent(uri('/chat'), {}, options))
      expect(parts.map(({ data }) => data)).toEqual([[1, 2], 'é😀', 3])
    }
  })

  it('ends at [DONE], and without an end mark when the body ends', async () => {
    serve('/done', SSE, 'data: 1\n\ndata: [DONE]\n\n')
    serve('/plain', SSE, 'data: 1\n\n')
    expect(await collect(streamAgent(uri('/done'), {}, options))).toEqual([{ data: 1 }])
    expect(await collect(streamAgent(uri('/plain'), {}, options))).toEqual([{ data: 1 }])
  })

  it('throws an error that arrives after the first part', async () => {
    serve(
      '/fail',
      SSE,
      'data: 1\n\nevent: error\ndata: {"error":{"code":"Timeout","message":"too slow"},"status":504}\n\n',
    )
    const parts: unknown[] = []
    const work = (async () => {
      for await (const part of streamAgent(uri('/fail'), {}, options)) parts.push(part.data)
    })()
    await expect(work).rejects.toMatchObject({ code: 'timeout', status: 504, message: 'too slow' })
    expect(parts).toEqual([1])
  })
})

describe('newline-delimited JSON', () => {
  it('returns each line, including an unterminated last line and lines split between chunks', async () => {
    serve('/lines', NDJSON, '{"n":1}\n\n{"n"', ':2}\r\n3')
    const parts = await collect(streamAgent(uri('/lines'), {}, { ...options, accept: NDJSON }))
    expect(parts).toEqual([{ data: { n: 1 } }, { data: { n: 2 } }, { data: 3 }])
    expect(host.calls[0]?.headers.accept).toBe(NDJSON)
  })

  it('throws an error line, but returns a line that only has a member of that name', async () => {
    serve('/lines', NDJSON, '{"error":"none","n":1}\n{"error":{"code":"InvalidInput","message":"no"}}\n')
    const parts: unknown[] = []
    const work = (async () => {
      for await (const { data } of streamAgent(uri('/lines'), {}, options)) parts.push(data)
    })()
    await expect(work).rejects.toMatchObject({ code: 'invalid_input', message: 'no' })
    expect(parts).toEqual([{ error: 'none', n: 1 }])
  })
})

describe('any stream', () => {
  it('AURI-8-09 returns the same values as events and as lines', async () => {
    serve('/events', SSE, 'data: {"a":1}\n\ndata: "b"\n\n')
    serve('/lines', NDJSON, '{"a":1}\n"b"\n')
    const [events, lines] = [
      collect(streamAgent(uri('/events'), {}, options)),
      collect(streamAgent(uri('/lines'), {}, options)),
    ]
    expect(await events).toEqual(await lines)
  })

  it('returns a complete response as one part', async () => {
    host.handlers['/whole'] = always({ all: true })
    expect(await collect(streamAgent(uri('/whole'), {}, options))).toEqual([{ data: { all: true } }])
  })

  it('AIDIP-5.3-03 invoke requests a response without a stream, and rejects one that streams anyway', async () => {
    serve('/chat', SSE, 'data: 1\n\n')
    expect(await codeOf(invokeAgent(uri('/chat'), {}, options))).toBe('bad_response')
    expect(host.calls[0]?.headers.accept).toBe('application/json')
    expect(host.calls[0]?.json).toEqual({})
  })

  it('cancels the work at the agent when the loop is left', async () => {
    const left = new Promise<void>((resolve) => {
      host.handlers['/endless'] = (_seen, response) => {
        response.writeHead(200, { 'content-type': NDJSON })
        const timer = setInterval(() => response.write('1\n'), 5)
        response.on('close', () => {
          clearInterval(timer)
          resolve()
        })
      }
    })
    for await (const { data } of streamAgent(uri('/endless'), {}, options)) {
      expect(data).toBe(1)
      break
    }
    await left
  })

  it('cancels the work at the agent when the caller aborts', async () => {
    const controller = new AbortController()
    const left = new Promise<void>((resolve) => {
      host.handlers['/endless'] = (_seen, response) => {
        response.writeHead(200, { 'content-type': NDJSON }).write('1\n')
        response.on('close', resolve)
      }
    })
    const work = (async () => {
      for await (const _part of streamAgent(uri('/endless'), {}, { ...options, signal: controller.signal }))
        controller.abort()
    })()
    expect(await codeOf(work)).toBe('aborted')
    await left
  })

  it('applies backpressure for a slow reader', async () => {
    const line = `"${'x'.repeat(64 * 1024)}"\n`
    let sent = 0
    host.handlers['/fast'] = async (_seen, response) => {
      response.writeHead(200, { 'content-type': NDJSON })
      for (; sent < 1000 && !response.destroyed; sent++) {
        if (!response.write(line)) await new Promise((resolve) => response.once('drain', resolve))
      }
      response.end()
    }
    for await (const _part of streamAgent(uri('/fast'), {}, options)) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      break
    }
    expect(sent).toBeLessThan(500)
  })

  it('fails with a code if the agent stops sending, disconnects, or sends something that is not JSON', async () => {
    host.handlers['/silent'] = (_seen, response) =>
      response.writeHead(200, { 'content-type': SSE }).write('data: 1\n\n')
    host.handlers['/cut'] = (_seen, response) => {
      response.writeHead(200, { 'content-type': NDJSON })
      response.write('1\n', () => response.destroy())
    }
    serve('/text', SSE, 'data: {hello}\n\n')
    serve('/bytes', NDJSON, '1\n')
    host.handlers['/bytes'] = (_seen, response) =>
      response.writeHead(200, { 'content-type': NDJSON }).end(Buffer.from([0x22, 0xff, 0x22, 0x0a]))
    host.handlers['/image'] = (_seen, response) => response.writeHead(200, { 'content-type': 'image/png' }).end('x')
    expect(await codeOf(collect(streamAgent(uri('/silent'), {}, { ...options, silenceMs: 50 })))).toBe('timeout')
    expect(await codeOf(collect(streamAgent(uri('/cut'), {}, options)))).toBe('unreachable')
    expect(await codeOf(collect(streamAgent(uri('/text'), {}, options)))).toBe('bad_response')
    expect(await codeOf(collect(streamAgent(uri('/bytes'), {}, options)))).toBe('bad_response')
    expect(await codeOf(collect(streamAgent(uri('/image'), {}, options)))).toBe('bad_response')
  })

  it.each([
    ['an endless line', NDJSON, 'x'.repeat(64)],
    ['an endless event', SSE, 'data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n'],
    ['an endless field', SSE, 'id: '.padEnd(64, 'x')],
  ])('aborts on %s', async (_what, type, piece) => {
    const closed = new Promise<void>((resolve) => {
      host.handlers['/endless'] = (_seen, response) => {
        response.writeHead(200, { 'content-type': type })
        const more = (): void => {
          while (!response.destroyed && response.write(piece)) {}
        }
        response.on('drain', more).on('close', resolve)
        more()
      }
    })
    expect(await codeOf(collect(streamAgent(uri('/endless'), {}, { ...options, maxPartLength: 10_000 })))).toBe(
      'too_large',
    )
    await closed
  })
})

describe('deferred responses', () => {
  const accepted = { taskId: 't 1', status: 'pending', pollInterval: 2 }

  it('are polled at Location, as often as the agent says, until the work is done', async () => {
    const { waits, retry } = fakeRetry()
    host.handlers['/report'] = always(accepted, 202, { location: '/tasks/t1', 'retry-after': '3' })
    const states = [
      { taskId: 't1', status: 'running', pollInterval: 5 },
      { taskId: 't1', status: 'completed', result: { pages: 7 } },
    ]
    host.handlers['/tasks/t1'] = (_seen, response) => sendJson(response, 200, states.shift() ?? null)
    const reply = await invokeAgent(
      uri('/report'),
      { topic: 'x' },
      { ...options, retry, sessionId: 's1', respondAsync: true },
    )
    expect(reply).toMatchObject({ output: { pages: 7 }, status: 200, taskId: 't 1' })
    expect(waits).toEqual([3000, 5000])
    const [first, second] = host.calls
    expect(first).toMatchObject({ method: 'POST', headers: { prefer: 'respond-async' } })
    expect(second).toMatchObject({ method: 'GET', url: '/tasks/t1', headers: { 'x-session-id': 's1' } })
    expect(second?.headers).not.toHaveProperty('prefer')
  })

  it('are polled at the draft’s path without a Location, and may be a bare result', async () => {
    host.handlers['/report'] = always(accepted, 202)
    host.handlers['/tasks/t%201'] = always({ pages: 7 })
    expect((await invokeAgent(uri('/report'), {}, options)).output).toEqual({ pages: 7 })
  })

  it('throw the error that the work failed with', async () => {
    host.handlers['/report'] = always(accepted, 202, { location: '/tasks/t1' })
    host.handlers['/tasks/t1'] = always({
      taskId: 't1',
      status: 'failed',
      error: { code: 'Interrupted', message: 'restarted' },
    })
    await expect(invokeAgent(uri('/report'), {}, options)).rejects.toMatchObject({
      code: 'remote_error',
      message: 'restarted',
    })
  })

  it('are not polled at another origin', async () => {
    host.handlers['/report'] = always(accepted, 202, { location: 'https://elsewhere.example/tasks/1' })
    expect(await codeOf(invokeAgent(uri('/report'), {}, options))).toBe('bad_response')
  })

  it('are cancelled at the agent when the caller aborts or the wait times out', async () => {
    host.handlers['/report'] = always(accepted, 202, { location: '/tasks/t1' })
    for (const how of ['abort', 'wait']) {
      const controller = new AbortController()
      const stopped = new Promise<void>((resolve) => {
        host.handlers['/tasks/t1'] = ({ method }, response) => {
          if (method === 'DELETE') resolve()
          else if (how === 'abort') controller.abort()
          sendJson(response, method === 'DELETE' ? 204 : 200, method === 'DELETE' ? undefined : accepted)
        }
      })
      const sleep = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))
      const limits = how === 'wait' ? { waitMs: 50 } : {}
      const work = invokeAgent(
        uri('/report'),
        {},
        { ...options, retry: { sleep }, signal: controller.signal, ...limits },
      )
      expect(await codeOf(work)).toBe(how === 'abort' ? 'aborted' : 'timeout')
      await stopped
    }
  })

  it('are a single part of a stream', async () => {
    host.handlers['/report'] = always(accepted, 202, { location: '/tasks/t1' })
    host.handlers['/tasks/t1'] = always({ pages: 7 })
    expect(await collect(streamAgent(uri('/report'), {}, options))).toEqual([{ data: { pages: 7 } }])
  })
})
