import type { JsonValue } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type Reply, sendJson } from './agent.js'
import { setUp } from './setup.js'

/** A list of this many values in all. */
const list = (values: number): JsonValue => Array.from({ length: values - 1 }, () => 0)

const streamed =
  (type: string, text: string): Reply =>
  (_received, response) =>
    response.writeHead(200, { 'content-type': type }).end(text)

describe('the number of JSON values', () => {
  const setup = setUp({ gateway: { maxInputValues: 1000, maxResponseValues: 2000 } })
  const anything = { inputs: { type: 'object' }, outputs: { type: 'object' } }

  it('of an input is limited; the error names the limit and what to do', async () => {
    await setup.register(anything)
    expect((await setup.call({ list: list(999) })).status).toBe(200)
    const { status, json } = await setup.call({ list: list(1000) })
    expect(status).toBe(400)
    expect(json.message).toMatch(/more than 1000 values .* shorten its lists, or refer to large data by URL/)
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('of the input in a form is limited', async () => {
    await setup.register(anything)
    const form = new FormData()
    form.set('input', JSON.stringify({ list: list(1000) }))
    const request = new Response(form)
    const headers = { 'content-type': String(request.headers.get('content-type')) }
    const raw = new Uint8Array(await request.arrayBuffer())
    expect((await setup.directory.post('/agents/x/invoke', { as: 'tokC', raw, headers })).status).toBe(400)
  })

  it.each([
    ['a bare input', { list: list(1000) }],
    ['a frame', { id: 1, input: { list: list(1000) } }],
  ])('of a line over a WebSocket is limited: %s', async (_, line) => {
    await setup.register(anything)
    const url = `${setup.directory.url.replace('http', 'ws')}/agents/x/invoke`
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${setup.directory.adminKey}` } })
    const received: string[] = []
    socket.on('message', (data) => received.push(String(data)))
    socket.on('open', () => socket.send(JSON.stringify(line)))
    const code = await new Promise((resolve) => socket.on('close', resolve))
    expect(code).toBe(1008)
    expect(received.join('')).toContain('more than 1000 values')
    expect(setup.agent.calls).toEqual([])
  })

  it.each([
    ['complete', 'application/json', JSON.stringify({ list: list(2000) })],
    ['a line of a stream', 'application/x-ndjson', `${JSON.stringify({ list: list(2000) })}\n`],
    ['an event of a stream', 'text/event-stream', `data: ${JSON.stringify({ list: list(2000) })}\n\n`],
    ['a joined stream', 'application/x-ndjson', `${JSON.stringify({ list: list(500) })}\n`.repeat(5)],
  ])('of a response is limited; the error says so: %s', async (_, type, text) => {
    await setup.register(anything)
    setup.agent.reply = streamed(type, text)
    const { status, json } = await setup.call({})
    expect(status).toBe(502)
    expect(json.message).toBe('the response of the agent is too large: at most 2000 JSON values are allowed')
    setup.agent.reply = streamed('application/json', JSON.stringify({ list: list(1999) }))
    expect((await setup.call({})).status).toBe(200)
  })

  it('of a part ends a stream with an error', async () => {
    await setup.register(anything)
    setup.agent.reply = streamed('application/x-ndjson', `{"ok":1}\n${JSON.stringify(list(2001))}\n`)
    const { text } = await setup.call({}, { headers: { accept: 'text/event-stream' } })
    expect(text).toContain('{"ok":1}')
    expect(text).toMatch(/event: error\ndata: .*at most 2000 JSON values are allowed/)
  })
})

describe('a batch', () => {
  const setup = setUp()

  it('has outputs that together are no larger than one response may be; no more inputs are sent then', async () => {
    await setup.register({ outputs: { type: 'object' } })
    for (const [output, fitting, limit] of [
      [{ text: 'x'.repeat(3 << 20) }, 3, '10485760 characters'],
      [{ list: list(40_000) }, 2, '100000 JSON values'],
    ] as const) {
      setup.agent.calls.length = 0
      setup.agent.reply = (_received, response) => sendJson(response, output)
      const { status, json } = await setup.call(Array.from({ length: 30 }, () => ({ text: 'a' })))
      expect(status).toBe(207)
      const messages: string[] = json.flatMap(({ error }: { error?: { message: string } }) => error?.message ?? [])
      expect(messages).toHaveLength(30 - fitting)
      expect(messages[0]).toContain(limit)
      expect(messages.at(-1)).toMatch(/this input was not sent; send fewer inputs at a time/)
      expect(setup.agent.calls.length).toBeLessThan(20)
    }
  })

  it('is checked against a costly schema within the time that one input may take', async () => {
    // Each item of a list is compared with many schemas: an input of 500 items takes most of the steps of a check.
    const costly = { type: 'array', items: { anyOf: Array.from({ length: 500 }, (_, i) => ({ const: `x${i}` })) } }
    await setup.register({ inputs: { type: 'object', properties: { list: costly } }, outputs: { type: 'object' } })
    const input = { list: Array.from({ length: 500 }, () => 'x499') }
    expect((await setup.call(input)).status).toBe(200)
    const before = process.cpuUsage()
    const { status, text } = await setup.call(Array.from({ length: 100 }, () => input))
    const { user, system } = process.cpuUsage(before)
    expect(status).toBe(400)
    expect(text).toContain('too large or too deep to be checked')
    expect((user + system) / 1000).toBeLessThan(3000)
  })

  it('lets other requests have their turn while its inputs are checked', async () => {
    const costly = { type: 'array', items: { anyOf: Array.from({ length: 90 }, (_, i) => ({ const: `x${i}` })) } }
    await setup.register({ inputs: { type: 'object', properties: { list: costly } } })
    const input = { list: Array.from({ length: 100 }, () => 'y') }
    let isDone = false
    const batch = setup.call(Array.from({ length: 100 }, () => input)).finally(() => {
      isDone = true
    })
    let served = 0
    for (; !isDone; served++) await setup.directory.get('/health/live')
    expect((await batch).status).toBe(400)
    expect(served).toBeGreaterThanOrEqual(5)
  })
})
