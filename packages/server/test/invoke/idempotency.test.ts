import { describe, expect, it } from 'vitest'
import { expectError } from '../support/errors.js'
import { fixed, sendJson } from './agent.js'
import { setUp } from './setup.js'

const setup = setUp({ gateway: { timeoutMs: 1000 } })
const { register, call } = setup
const INPUT = { text: 'hello' }

let keys = 0
/** A key that no other test has used, because keys are stored for a day. */
const newKey = (): { 'idempotency-key': string } => ({ 'idempotency-key': `key-${keys++}` })

/** An agent that numbers its responses. */
const counting = (): void => {
  let count = 0
  setup.agent.reply = (_, response) => sendJson(response, { text: `answer ${++count}` })
}

describe('an Idempotency-Key', () => {
  it('AIDIP-5.3-08 AIDIP00-6.3-03 turns two requests into one call with one response', async () => {
    await register({ version: '1.2.0' })
    counting()
    for (const path of ['/agents/x/invoke', '/v0/agents/x/invoke']) {
      const headers = newKey()
      const first = await call(INPUT, { path, headers })
      const second = await call(INPUT, { path, headers })
      expect([second.status, second.text]).toEqual([200, first.text])
      expect(first.headers.has('idempotent-replayed')).toBe(false)
      expect(second.headers.get('idempotent-replayed')).toBe('true')
      expect(second.headers.get('x-agent-version')).toBe('1.2.0')
      expect(setup.agent.calls.splice(0)).toHaveLength(1)
    }
  })

  it('AIDIP-5.3-08 with a different body is rejected', async () => {
    await register()
    const headers = newKey()
    await call(INPUT, { headers })
    expectError(await call({ text: 'other' }, { headers }), { status: 422, code: 'idempotency_mismatch' })
    expectError(await call([INPUT], { headers }), { status: 422 })
    expectError(await call({ ...INPUT, sessionId: 's1' }, { headers }), { status: 422 })
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('C-61 belongs to one client and one agent', async () => {
    await register()
    await register({ id: 'y' })
    const headers = newKey()
    await call(INPUT, { headers })
    await call(INPUT, { headers, as: 'tokB' })
    await call(INPUT, { headers, path: '/agents/y/invoke' })
    expect(setup.agent.calls).toHaveLength(3)
    await setup.directory.delete('/agents/x', { as: 'tokA' })
    await register()
    expect((await call(INPUT, { headers })).headers.has('idempotent-replayed')).toBe(false)
  })

  it('C-61 turns concurrent requests into one call, and reports to the others that it is in progress', async () => {
    await register()
    let answer = (): void => {}
    setup.agent.reply = (_, response) => {
      answer = () => sendJson(response, { text: 'done' })
    }
    const headers = newKey()
    const running = call(INPUT, { headers })
    await expect.poll(() => setup.agent.calls.length).toBe(1)
    const others = await Promise.all(Array.from({ length: 10 }, () => call(INPUT, { headers })))
    for (const other of others) {
      expectError(other, { status: 409, code: 'conflict' })
      expect(other.headers.get('retry-after')).toMatch(/^\d+$/)
    }
    answer()
    expect((await running).json).toEqual({ text: 'done' })
    expect((await call(INPUT, { headers })).json).toEqual({ text: 'done' })
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('C-61 lets a call finish after its caller has disconnected, to fetch the response later', async () => {
    await register()
    let answer = (): void => {}
    setup.agent.reply = (_, response) => {
      answer = () => sendJson(response, { text: 'done' })
    }
    const headers = newKey()
    const { url, adminKey } = setup.directory
    const controller = new AbortController()
    const lost = fetch(`${url}/agents/x/invoke`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(INPUT),
      signal: controller.signal,
    })
    await expect.poll(() => setup.agent.calls.length).toBe(1)
    controller.abort()
    await expect(lost).rejects.toThrow()
    // By the time of these responses the directory has noticed the disconnection.
    for (let i = 0; i < 3; i++) await setup.directory.get('/health/live')
    answer()
    const found = async () => (await call(INPUT, { headers, as: 'admin' })).json
    await expect.poll(found).toEqual({ text: 'done' })
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('C-61 repeats an error of the agent, which may have done the work', async () => {
    await register()
    const headers = newKey()
    setup.agent.reply = fixed({ error: { code: 'HalfDone', message: 'it was sent, I think' } }, 500)
    const first = await call(INPUT, { headers })
    setup.agent.reply = fixed({ text: 'done' })
    const second = await call(INPUT, { headers })
    expect([second.status, second.json.error]).toEqual([500, first.json.error])
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('C-61 is released if nothing was done', async () => {
    await register()
    const headers = newKey()
    expectError(await call({ text: 5 }, { headers }), { status: 400 })
    setup.agent.reply = fixed(null, 503)
    expectError(await call(INPUT, { headers }), { status: 503 })
    setup.agent.reply = fixed({ text: 'done' })
    expect(await call(INPUT, { headers })).toMatchObject({ status: 200, json: { text: 'done' } })
  })

  it('C-61 stores no response above 256 KiB, counted in bytes, but the call is still sent once', async () => {
    await register()
    for (const text of ['x'.repeat(300_000), '漢'.repeat(100_000)]) {
      const headers = newKey()
      setup.agent.reply = fixed({ text })
      expect((await call(INPUT, { headers })).json).toEqual({ text })
      expectError(await call(INPUT, { headers }), { status: 409, says: /has run, .* more than 262144 bytes/ })
      expect(setup.agent.calls.splice(0)).toHaveLength(1)
    }
  })

  it('C-61 stores no stream, but the call is still sent once', async () => {
    await register()
    const headers = { ...newKey(), accept: 'text/event-stream' }
    setup.agent.reply = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: 1\n\n')
    expect((await call(INPUT, { headers })).text).toContain('event: end')
    expectError(await call(INPUT, { headers }), { status: 409, says: /has run, .* streams and files are not/ })
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('AIDIP-5.3-08 is forwarded to the agent, with a different one for each input of a batch', async () => {
    await register()
    const headers = newKey()
    await call(INPUT, { headers })
    expect(setup.agent.calls.pop()?.headers).toMatchObject(headers)
    const batch = newKey()
    const first = await call([INPUT, INPUT], { headers: batch })
    const sent = setup.agent.calls.splice(0).map((received) => received.headers['idempotency-key'])
    expect(new Set(sent).size).toBe(2)
    expect((await call([INPUT, INPUT], { headers: batch })).text).toBe(first.text)
    expect(setup.agent.calls).toEqual([])
  })

  it('must be visible ASCII of limited length', async () => {
    await register()
    for (const key of ['x'.repeat(256), 'a b'])
      expectError(await call(INPUT, { headers: { 'idempotency-key': key } }), {
        status: 400,
        member: 'Idempotency-Key',
      })
  })
})

describe('without a key', () => {
  it('AIDIP00-6.3-03 a call that may have run is not repeated', async () => {
    await register()
    setup.agent.reply = (_, response) => response.destroy()
    expectError(await call(INPUT), { status: 502 })
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('an operation that is marked idempotent is retried', async () => {
    await register({ operations: [{ name: 'a', idempotent: true, inputs: {}, outputs: {} }] })
    setup.agent.reply = (_, response) =>
      setup.agent.calls.length < 2 ? response.destroy() : sendJson(response, { text: 'second' })
    expect(await call(INPUT)).toMatchObject({ status: 200, json: { text: 'second' } })
    expect(setup.agent.calls).toHaveLength(2)
  })
})

describe('the responses stored for one caller', () => {
  const limited = setUp({ gateway: { maxStoredBytesPerCaller: 5000 } })

  it('C-61 have a limit in bytes, beyond which calls run once but cannot be replayed', async () => {
    await limited.register()
    limited.agent.reply = fixed({ text: 'x'.repeat(2000) })
    const keys = [newKey(), newKey(), newKey(), newKey()]
    for (const headers of keys) expect((await limited.call(INPUT, { headers })).status).toBe(200)
    const again = await Promise.all(keys.map((headers) => limited.call(INPUT, { headers })))
    expect(again.map(({ status }) => status)).toEqual([200, 200, 409, 409])
    for (const refused of again.slice(2)) expectError(refused, { status: 409, says: /has run, .* 5000 bytes/ })
    expect(limited.agent.calls).toHaveLength(4)
    const other = newKey()
    for (let i = 0; i < 2; i++) expect((await limited.call(INPUT, { headers: other, as: 'tokB' })).status).toBe(200)
    expect(limited.agent.calls).toHaveLength(5)
  })

  it('C-61 include errors, which can be large too', async () => {
    await limited.register()
    limited.agent.reply = fixed({ error: { code: 'Broken', message: 'no', details: 'x'.repeat(6000) } }, 422)
    const headers = newKey()
    expectError(await limited.call(INPUT, { headers, as: 'tokA' }), { status: 422 })
    expectError(await limited.call(INPUT, { headers, as: 'tokA' }), { status: 409, says: /has run/ })
    expect(limited.agent.calls).toHaveLength(1)
  })
})
