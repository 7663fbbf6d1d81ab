import { describe, expect, it } from 'vitest'
import { sendJson } from './agent.js'
import { stream } from './read-stream.js'
import { setUp } from './setup.js'

const setup = setUp({ gateway: { timeoutMs: 3000 } })
const { register } = setup
const INPUT = { text: 'hello' }
const SSE = 'text/event-stream'
const NDJSON = 'application/x-ndjson'

/** An agent whose parts are sent by the test. */
function streaming(type = SSE): { send(text: string): Promise<void>; end(): void; gone: Promise<void> } {
  let begin: (response: import('node:http').ServerResponse) => void
  const begun = new Promise<import('node:http').ServerResponse>((resolve) => {
    begin = resolve
  })
  const gone = begun.then((response) => new Promise<void>((resolve) => response.on('close', () => resolve())))
  setup.agent.reply = (_, response) => {
    response.writeHead(200, { 'content-type': type })
    response.flushHeaders()
    begin(response)
  }
  const frame = (text: string): string => (type === SSE ? `data: ${text}\n\n` : `${text}\n`)
  return {
    send: async (text) => void (await begun).write(frame(text)),
    end: () => void begun.then((response) => response.end()),
    gone,
  }
}

describe('stream: true', () => {
  it('AIDIP-5.3-01 AIDIP00-6.3-01 AURI-8-05 sends events as the agent produces them, then an end mark', async () => {
    await register()
    for (const path of ['/agents/x/invoke', '/v0/agents/x/invoke']) {
      const agent = streaming()
      const answering = stream(setup.directory, { ...INPUT, stream: true }, { path })
      await agent.send('{"text":"Bon"}')
      const answer = await answering
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      // The second part is sent only after the first has arrived.
      expect(await answer.next('\n\n')).toBe('data: {"text":"Bon"}\n\n')
      await agent.send('{"text":"jour"}')
      expect(await answer.next('\n\n')).toBe('data: {"text":"jour"}\n\n')
      agent.end()
      expect(await answer.rest()).toBe('event: end\ndata: {}\n\n')
      expect(setup.agent.calls.pop()?.json).toEqual(INPUT)
    }
  })

  it('AIDIP-5.3-02 sends the whole output if the agent does not stream', async () => {
    await register()
    const answer = await stream(setup.directory, { ...INPUT, stream: true })
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(JSON.parse(await answer.rest())).toEqual(INPUT)
  })

  it('C-59 is forwarded to an agent that has a member of that name', async () => {
    await register({ inputs: { text: 'string', stream: 'boolean' } })
    const agent = streaming()
    const answering = stream(setup.directory, { ...INPUT, stream: true })
    await agent.send('1')
    agent.end()
    const answer = await answering
    expect(answer.headers.get('content-type')).toContain(SSE)
    expect(await answer.rest()).toContain('event: end')
    expect(setup.agent.calls[0]?.json).toEqual({ ...INPUT, stream: true })
  })

  it('keeps ids and names of events, each on one line', async () => {
    await register()
    setup.agent.reply = (_, response) =>
      response.writeHead(200, { 'content-type': SSE }).end('id: 7\nevent: token\ndata: {"a":"x\\ny"}\n\n')
    const answer = await stream(setup.directory, INPUT, { accept: SSE })
    expect(await answer.rest()).toBe('id: 7\nevent: token\ndata: {"a":"x\\ny"}\n\nevent: end\ndata: {}\n\n')
  })
})

describe('Accept', () => {
  it('C-59 alone can request a stream, and selects its format', async () => {
    await register()
    const agent = streaming(NDJSON)
    const answering = stream(setup.directory, INPUT, { accept: NDJSON })
    await agent.send('{"n":1}')
    const answer = await answering
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(await answer.next('\n')).toBe('{"n":1}\n')
    await agent.send('{"n":2}')
    agent.end()
    expect(await answer.rest()).toBe('{"n":2}\n')
    expect(setup.agent.calls[0]?.headers.accept).toMatch(/event-stream.*x-ndjson/)
  })

  it('AURI-8-09 does not change the values, whichever format the agent uses', async () => {
    await register()
    const values = [{ n: 1 }, 'text', null, ['ü\n']]
    for (const type of [SSE, NDJSON]) {
      for (const accept of [SSE, NDJSON]) {
        const agent = streaming(type)
        const answering = stream(setup.directory, INPUT, { accept })
        for (const value of values) await agent.send(JSON.stringify(value))
        agent.end()
        const text = await (await answering).rest()
        const lines =
          accept === SSE
            ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data).slice(0, -1)
            : text.trim().split('\n')
        expect(
          lines.map((line) => JSON.parse(line)),
          `${type} as ${accept}`,
        ).toEqual(values)
      }
    }
  })

  it('C-59 that allows only streams turns a complete response into a stream', async () => {
    await register()
    const events = await stream(setup.directory, INPUT, { accept: SSE })
    expect(await events.rest()).toBe('data: {"text":"hello"}\n\nevent: end\ndata: {}\n\n')
    const lines = await stream(setup.directory, INPUT, { accept: NDJSON })
    expect(await lines.rest()).toBe('{"text":"hello"}\n')
  })
})

describe('a stream that ends early', () => {
  it.each([
    [SSE, /^data: 1\n\nevent: error\ndata: (.*)\n\n$/],
    [NDJSON, /^1\n(.*)\n$/],
  ])('C-59 ends with the error and without an end mark, as %s', async (accept, form) => {
    await register()
    setup.agent.reply = (_, response) => {
      response.writeHead(200, { 'content-type': SSE }).write('data: 1\n\ndata: {"broken\n\n')
    }
    const text = await (await stream(setup.directory, INPUT, { accept })).rest()
    expect(text).toMatch(form)
    const [, data = ''] = form.exec(text) ?? []
    expect(JSON.parse(data)).toEqual({ error: { code: 'AgentError', message: expect.any(String) } })
  })

  it('C-59 ends with the agent’s own error', async () => {
    await register()
    setup.agent.reply = (_, response) =>
      response
        .writeHead(200, { 'content-type': SSE })
        .end('data: 1\n\nevent: error\ndata: {"error":{"code":"OutOfWords","message":"no words left"}}\n\n')
    const text = await (await stream(setup.directory, INPUT, { accept: SSE })).rest()
    expect(text).toBe('data: 1\n\nevent: error\ndata: {"error":{"code":"OutOfWords","message":"no words left"}}\n\n')
  })

  it('is an error response if nothing had been sent', async () => {
    await register()
    setup.agent.reply = (_, response) => sendJson(response, null, 503)
    const answer = await stream(setup.directory, { ...INPUT, stream: true })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'application/json; charset=utf-8'])
  })
})

describe('a caller of a stream', () => {
  it('who disconnects stops the agent’s work, even if the agent is silent', async () => {
    await register()
    const agent = streaming()
    const answering = stream(setup.directory, INPUT, { accept: SSE })
    await agent.send('1')
    const answer = await answering
    await answer.next('\n\n')
    await answer.cancel()
    await agent.gone
  })

  it('who reads slowly makes the agent wait', async () => {
    await register()
    const part = `data: "${'x'.repeat(64 * 1024)}"\n\n`
    let sent = 0
    let stalled = false
    const full = new Promise<void>((resolve) => {
      setup.agent.reply = async (_, response) => {
        response.writeHead(200, { 'content-type': SSE })
        while (sent < 2000 && !response.destroyed) {
          sent++
          if (response.write(part)) continue
          const drained = new Promise<boolean>((done) => response.once('drain', () => done(true)))
          const late = new Promise<boolean>((done) => setTimeout(() => done(false), 500))
          if (await Promise.race([drained, late])) continue
          stalled = true
          resolve()
          await drained
        }
        response.end()
      }
    })
    const answer = await stream(setup.directory, INPUT, { accept: SSE })
    await full
    expect([stalled, sent < 2000]).toEqual([true, true])
    await answer.cancel()
  })
})
