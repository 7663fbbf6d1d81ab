import { Readable } from 'node:stream'
import { eachPart } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { ACCEPTED_TASK_VECTORS, POLLED_TASK_VECTORS } from '../../../protocol/test-vectors/call/accepted-task.js'
import { EVENT_STREAMS, NDJSON_STREAMS } from '../../../protocol/test-vectors/call/streams.js'
import type { Gateway } from '../../src/gateway/gateway.js'
import {
  bodyOf,
  callOf,
  createTestGateway,
  endpoint,
  gather,
  sendJson,
  startHttpAgent,
  type TestAgent,
} from './agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

async function start(
  listener: Parameters<typeof startHttpAgent>[0],
  options: Parameters<typeof createTestGateway>[0] = {},
): Promise<{ agent: TestAgent; gateway: Gateway }> {
  const agent = await startHttpAgent(listener)
  const gateway = createTestGateway(options)
  open.push(gateway, agent)
  return { agent, gateway }
}

describe('a plain HTTP agent', () => {
  it('AIDIP-5.1-01 AIDIP-5.1-03 is called with POST and JSON', async () => {
    const seen: unknown[] = []
    const { agent, gateway } = await start(async (request, response) => {
      seen.push(request.method, request.url, request.headers['content-type'], JSON.parse(await bodyOf(request)))
      sendJson(response, { echo: true })
    })
    const answer = await gateway.call(callOf(`${agent.url}run?x=1`))
    expect(answer).toMatchObject({ status: 200, kind: 'json', value: { echo: true } })
    expect(seen).toEqual(['POST', '/run?x=1', 'application/json', { text: 'hi' }])
  })

  it('AIDIP-5.1-06 receives the operation in the body if its endpoint has several', async () => {
    const { agent, gateway } = await start(async (request, response) =>
      sendJson(response, JSON.parse(await bodyOf(request))),
    )
    const target = { ...endpoint(agent.url), namesOperation: true }
    expect(await gateway.call(callOf(target))).toMatchObject({ value: { text: 'hi', operation: 'echo' } })
    expect(await gateway.call(callOf(target, { payload: { kind: 'json', value: [1] } }))).toMatchObject({ value: [1] })
  })

  it('AIDIP-5.1-15 AIDIP-5.1-04 receives the headers of the call and no hop-by-hop headers', async () => {
    let seen: Record<string, unknown> = {}
    const { agent, gateway } = await start((request, response) => {
      seen = request.headers
      sendJson(response, {})
    })
    const headers = {
      'X-Request-ID': 'r1',
      authorization: 'Bearer agent',
      host: 'evil.example',
      cookie: 'a=b',
      'transfer-encoding': 'chunked',
      'Accept-Encoding': 'gzip',
    }
    await gateway.call(callOf(agent.url, { headers }))
    expect(seen).toMatchObject({
      'x-request-id': 'r1',
      authorization: 'Bearer agent',
      host: `127.0.0.1:${agent.port}`,
      'accept-encoding': 'identity',
      via: expect.stringMatching(/^1\.1 switchboard-/),
    })
    expect(seen).not.toHaveProperty('cookie')
    expect(seen).not.toHaveProperty('transfer-encoding')
  })

  it.each(['a\r\nx-evil: 1', 'a\n', '漢', 'a\0'])('does not receive the invalid header value %j', async (value) => {
    const { agent, gateway } = await start((_, response) => sendJson(response, {}))
    for (const protocol of ['http', 'websocket'] as const) {
      const url = protocol === 'http' ? agent.url : agent.url.replace('http', 'ws')
      const call = callOf(endpoint(url, protocol), { headers: { 'x-session-id': value } })
      await expect(gateway.call(call)).rejects.toMatchObject({ code: 'not_invocable', mayHaveRun: false })
    }
    while (agent.sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
  })

  it('AIDIP-5.2-01 has its 201 kept, with an absolute Location', async () => {
    const { agent, gateway } = await start((_, response) => sendJson(response, {}, 201, { location: '/things/1' }))
    const answer = await gateway.call(callOf(agent.url))
    expect(answer).toMatchObject({ status: 201, headers: { location: `${agent.url}things/1` } })
  })

  it('has only headers about the response forwarded', async () => {
    const { agent, gateway } = await start((_, response) =>
      sendJson(response, {}, 200, { server: 'nginx', 'x-agent-version': '2', 'set-cookie': 'a=b', 'x-internal': '1' }),
    )
    expect((await gateway.call(callOf(agent.url))).headers).toEqual({ 'x-agent-version': '2' })
  })

  it.each([400, 401, 404, 429, 500, 503])('C-97 has its status %i and its error object kept', async (status) => {
    const error = { code: 'Nope', message: 'no' }
    const { agent, gateway } = await start((_, response) => sendJson(response, { error }, status))
    expect(await gateway.call(callOf(agent.url))).toMatchObject({ status, kind: 'json', value: { error } })
  })

  it('C-97 has the body of an error dropped if it is not JSON, invalid or too large', async () => {
    const bodies = ['<h1>Error at /srv/app.py</h1>', '{"error":', JSON.stringify({ error: 'x'.repeat(100_000) })]
    const { agent, gateway } = await start((request, response) => {
      const n = Number(request.url?.slice(1))
      response.writeHead(500, { 'content-type': n === 0 ? 'text/html' : 'application/json' }).end(bodies[n])
    })
    for (const n of [0, 1, 2]) {
      expect(await gateway.call(callOf(`${agent.url}${n}`))).toMatchObject({ status: 500, kind: 'json', value: null })
    }
  })

  it('has an empty body read as null', async () => {
    const { agent, gateway } = await start((_, response) => response.writeHead(204).end())
    expect(await gateway.call(callOf(agent.url))).toMatchObject({ status: 204, kind: 'json', value: null })
  })

  it.each<[body: string | Buffer, why: string]>([
    ['{"a":', 'not closed'],
    ['<html>', 'markup'],
    ['{"a":1,"a":2}', 'twice the same member'],
    ['{"__proto__":1}', 'a prototype'],
    [Buffer.from([0x22, 0xff, 0x22]), 'not UTF-8'],
    [`${'['.repeat(100)}${']'.repeat(100)}`, 'too deep'],
  ])('AIDIP-5.2-10 has an invalid body rejected: %j (%s)', async (body) => {
    const { agent, gateway } = await start((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    )
    await expect(gateway.call(callOf(agent.url))).rejects.toMatchObject({ code: 'bad_response', mayHaveRun: true })
  })

  it('has a compressed response rejected, which could expand without limit', async () => {
    const { agent, gateway } = await start((_, response) => sendJson(response, {}, 200, { 'content-encoding': 'gzip' }))
    await expect(gateway.call(callOf(agent.url))).rejects.toMatchObject({ code: 'bad_response' })
  })

  it('AIDIP-5.1-13 receives bytes and forms unchanged', async () => {
    const seen: unknown[] = []
    const { agent, gateway } = await start(async (request, response) => {
      seen.push(request.headers['content-type'], await bodyOf(request))
      sendJson(response, {})
    })
    const contentType = 'multipart/form-data; boundary=x'
    await gateway.call(callOf(agent.url, { payload: { kind: 'bytes', contentType, body: Buffer.from('--x--') } }))
    const body = Readable.from([Buffer.from('a'), Buffer.from('b')])
    await gateway.call(callOf(agent.url, { payload: { kind: 'bytes', contentType: 'image/png', body } }))
    expect(seen).toEqual([contentType, '--x--', 'image/png', 'ab'])
  })

  it('has other media types returned as bytes, up to the size limit', async () => {
    const { agent, gateway } = await start(
      (request, response) =>
        response
          .writeHead(200, { 'content-type': 'image/png' })
          .end(Buffer.alloc(request.url === '/' ? 1000 : 5000, 7)),
      { maxBodyBytes: 2000 },
    )
    const answer = await gateway.call(callOf(agent.url))
    if (answer.kind !== 'bytes') throw new Error(answer.kind)
    expect(answer.contentType).toBe('image/png')
    expect(Buffer.concat(await gather(answer.body))).toEqual(Buffer.alloc(1000, 7))
    const large = await gateway.call(callOf(`${agent.url}large`))
    if (large.kind !== 'bytes') throw new Error(large.kind)
    await expect(gather(large.body)).rejects.toMatchObject({ code: 'too_large' })
  })

  it('is called over pooled connections', async () => {
    const { agent, gateway } = await start((_, response) => sendJson(response, {}))
    for (let i = 0; i < 20; i++) await gateway.call(callOf(agent.url))
    // A connection is idle for one turn of the event loop, in case the agent closes it; then a second one is used.
    expect(agent.connections()).toBeLessThanOrEqual(2)
  })
})

describe('a stream', () => {
  const events =
    'event: step\nid: 7\ndata: {"n":1}\n\n: ping\n\ndata: {"n":\ndata: 2}\n\ndata: word\n\ndata: [DONE]\n\ndata: 9\n\n'

  it('AIDIP-5.3-01 AURI-8-05 of server-sent events arrives part by part, up to its end event', async () => {
    const { agent, gateway } = await start((request, response) => {
      expect(request.headers.accept).toMatch(/^text\/event-stream/)
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).end(events)
    })
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    expect(await gather(eachPart(answer.batches))).toEqual([
      { event: 'step', id: '7', data: { n: 1 } },
      { data: { n: 2 } },
      { data: 'word' },
    ])
  })

  it.each(['application/x-ndjson', 'application/jsonl', 'application/json'])(
    'AIDIP-5.3-01 of JSON lines (%s) arrives part by part, however it is split',
    async (type) => {
      const text = '{"n":"é1"}\n\r\n{"n":2}\n{"error":{"code":"X"}}'
      const { agent, gateway } = await start(async (_, response) => {
        response.writeHead(200, { 'content-type': type })
        for (const byte of Buffer.from(text)) {
          response.write(Buffer.from([byte]))
          await new Promise(setImmediate)
        }
        response.end()
      })
      const answer = await gateway.call(callOf(agent.url, { wantsStream: true }))
      if (answer.kind !== 'stream') throw new Error(answer.kind)
      expect(await gather(eachPart(answer.batches))).toEqual([
        { data: { n: 'é1' } },
        { data: { n: 2 } },
        { data: { error: { code: 'X' } }, event: 'error' },
      ])
    },
  )

  it.each([
    ...EVENT_STREAMS.map((vector) => ({ type: 'text/event-stream', ...vector })),
    ...NDJSON_STREAMS.map((vector) => ({ type: 'application/x-ndjson', ...vector })),
  ])('C-59 of $type is read: $name', async ({ type, body, parts, fails = false }) => {
    const { agent, gateway } = await start((_, response) => {
      response.writeHead(200, { 'content-type': type }).end(body)
    })
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    const seen = await gather(eachPart(answer.batches))
    expect(seen.filter(({ event }) => event !== 'error')).toEqual(parts)
    expect(seen.at(-1)?.event === 'error').toBe(fails)
  })

  it('AIDIP-5.3-02 that the agent does not support becomes a single response', async () => {
    const { agent, gateway } = await start((request, response) => {
      if (request.url === '/length') return sendJson(response, { whole: 1 })
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{\n  "whole":')
      response.end(' 1\n}\n')
    })
    for (const path of ['', 'length']) {
      const answer = await gateway.call(callOf(agent.url + path, { wantsStream: true }))
      expect(answer).toMatchObject({ kind: 'json', value: { whole: 1 } })
    }
  })

  it('AIDIP-5.3-01 yields the first part before the last is sent', async () => {
    let resume = (): void => {}
    const { agent, gateway } = await start(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n')
      await new Promise<void>((resolve) => {
        resume = resolve
      })
      response.end('data: 2\n\n')
    })
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    const seen: unknown[] = []
    for await (const { data } of eachPart(answer.batches)) {
      seen.push(data)
      resume()
    }
    expect(seen).toEqual([1, 2])
  })

  it('applies back-pressure to the agent', async () => {
    let written = 0
    const { agent, gateway } = await start(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const part = `data: "${'x'.repeat(10_000)}"\n\n`
      while (!response.destroyed) {
        written += part.length
        if (!response.write(part)) await new Promise((resolve) => response.once('drain', resolve))
      }
    })
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    const parts = eachPart(answer.batches)
    await parts.next()
    let before = -1
    while (written !== before) {
      before = written
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    // No more than the socket buffers of both sides: without back-pressure it would be gigabytes by now.
    expect(written).toBeLessThan(20_000_000)
    await parts.return()
  })

  it('cancels the agent’s work if the reader stops early', async () => {
    let ended = (): void => {}
    const end = new Promise<void>((resolve) => {
      ended = resolve
    })
    const { agent, gateway } = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      response.on('close', ended)
    })
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    for await (const part of eachPart(answer.batches)) {
      expect(part.data).toBe(1)
      break
    }
    await end
  })

  it('ends when its caller goes away, and cancels the agent’s work', async () => {
    let ended = (): void => {}
    const end = new Promise<void>((resolve) => {
      ended = resolve
    })
    const { agent, gateway } = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      response.on('close', ended)
    })
    const caller = new AbortController()
    const answer = await gateway.call(callOf(agent.url, { wantsStream: true, signal: caller.signal }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    const parts = eachPart(answer.batches)
    await parts.next()
    const next = parts.next()
    caller.abort()
    await expect(next).rejects.toMatchObject({ code: 'cancelled' })
    await end
  })

  it('fails with an error if a part is too large or not JSON', async () => {
    const { agent, gateway } = await start(
      (request, response) => {
        const type = request.url?.startsWith('/lines') ? 'application/x-ndjson' : 'text/event-stream'
        response.writeHead(200, { 'content-type': type })
        const [first, rest] = {
          '/lines-large': ['{"n":1}\n', `"${'x'.repeat(5000)}"\n`],
          '/lines-broken': ['{"n":1}\n', '{"n":\n'],
          '/events-large': ['data: {"n":1}\n\n', `data: ${'x'.repeat(5000)}`],
          '/events-broken': ['data: {"n":1}\n\n', 'data: {"n":\n\n'],
        }[request.url ?? ''] ?? ['', '']
        response.write(first)
        setTimeout(() => response.end(rest), 30)
      },
      { maxPartBytes: 1000 },
    )
    for (const [path, code] of [
      ['lines-large', 'too_large'],
      ['lines-broken', 'bad_response'],
      ['events-large', 'too_large'],
      ['events-broken', 'bad_response'],
    ] as const) {
      const answer = await gateway.call(callOf(agent.url + path, { wantsStream: true }))
      if (answer.kind !== 'stream') throw new Error(answer.kind)
      const parts = eachPart(answer.batches)
      expect((await parts.next()).value, path).toEqual({ data: { n: 1 } })
      await expect(parts.next(), path).rejects.toMatchObject({ code })
    }
  })
})

describe('deferred work', () => {
  it.each(ACCEPTED_TASK_VECTORS)('AURI-8-02 is read from $title', async ({ body, headers, task }) => {
    const { agent, gateway } = await start((_, response) => {
      const { location, ...rest } = headers
      const own = location?.replace('https://agent.example/', agent.url)
      sendJson(response, body, 202, { ...rest, ...(own && { location: own }) })
    })
    const { id, status, path = '' } = task ?? {}
    expect(await gateway.call(callOf(agent.url))).toMatchObject(
      task ? { kind: 'task', task: { id, status, url: new URL(path, agent.url).href } } : { kind: 'json', value: body },
    )
  })

  it('AURI-8-02 AURI-8-04 of the agent is a task, polled at its URL until it is done', async () => {
    let polls = 0
    const { agent, gateway } = await start((request, response) => {
      if (request.method === 'POST') {
        return sendJson(response, { taskId: 't1', status: 'accepted', pollInterval: 3 }, 202, { location: '/jobs/t1' })
      }
      expect(request.url).toBe('/jobs/t1')
      expect(request.headers.authorization).toBe('Bearer agent')
      const isDone = ++polls === 2
      sendJson(response, {
        taskId: 't1',
        ...(isDone ? { status: 'completed', result: { x: 1 } } : { status: 'working' }),
      })
    })
    const call = callOf(agent.url, { headers: { authorization: 'Bearer agent' } })
    const answer = await gateway.call(call)
    if (answer.kind !== 'task') throw new Error(answer.kind)
    expect(answer.task).toEqual({ id: 't1', status: 'accepted', url: `${agent.url}jobs/t1`, pollInterval: 3 })
    const first = await gateway.poll(call, answer.task)
    expect(first).toMatchObject({ kind: 'task', task: { id: 't1', status: 'working', url: `${agent.url}jobs/t1` } })
    expect(await gateway.poll(call, answer.task)).toMatchObject({ kind: 'json', status: 200, value: { x: 1 } })
  })

  it.each(POLLED_TASK_VECTORS)('AURI-8-02 is polled: $title', async ({ body, says }) => {
    const { agent, gateway } = await start((_, response) => sendJson(response, body))
    const polled = await gateway.poll(callOf(agent.url), { id: 't1', status: 'running' })
    if (says === 'running') expect(polled).toMatchObject({ kind: 'task', task: { id: 't1' } })
    else if ('result' in says) expect(polled).toMatchObject({ kind: 'json', status: 200, value: says.result })
    else {
      const error = { message: expect.stringContaining(says.failure) }
      expect(polled).toMatchObject({ kind: 'json', status: 500, value: { error } })
    }
  })

  it('is cancelled with DELETE', async () => {
    const seen: unknown[] = []
    const { agent, gateway } = await start((request, response) => {
      seen.push(request.method, request.url)
      response.writeHead(204).end()
    })
    await gateway.cancel(callOf(agent.url), { id: 't/1', status: 'running' })
    expect(seen).toEqual(['DELETE', '/tasks/t%2F1'])
  })

  it('at another origin is rejected, because the agent’s credential would be sent there', async () => {
    const { agent, gateway } = await start((_, response) =>
      sendJson(response, { taskId: 't' }, 202, { location: 'http://127.0.0.1:9/t' }),
    )
    await expect(gateway.call(callOf(agent.url))).rejects.toMatchObject({ code: 'bad_response' })
    const task = { id: 't', status: 'running', url: 'http://127.0.0.1:9/t' }
    await expect(gateway.poll(callOf(agent.url), task)).rejects.toMatchObject({ code: 'blocked' })
  })
})
