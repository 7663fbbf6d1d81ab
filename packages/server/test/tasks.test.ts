import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@switchboard/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { echo, fixed, type Received, sendJson, startAgent, type TestAgent } from './invoke/agent.js'
import { createTestClock, type TestClock } from './support/clock.js'
import { type RequestOptions, startDirectory, type TestDirectory, type TestResponse } from './support/directory.js'
import { expectError } from './support/errors.js'
import { verifyMessage } from './support/http-signature.js'
import { ADMIN_KEY, startServer, temporaryFolder } from './support/process.js'

let directory: TestDirectory
let agent: TestAgent
let clock: TestClock

beforeAll(async () => {
  agent = await startAgent()
  clock = createTestClock()
  directory = await startDirectory({}, clock)
})
afterAll(async () => {
  await directory.close()
  await agent.close()
})
beforeEach(async () => {
  await directory.clear()
  agent.reply = echo
  agent.calls.length = 0
  await directory.post('/agents', { as: 'tokA', body: agent.document() })
})

const defer = (ask: RequestOptions = {}) =>
  directory.post('/agents/x/invoke', {
    as: 'tokC',
    body: { text: 'hello' },
    ...ask,
    headers: { prefer: 'respond-async', ...ask.headers },
  })

async function deferred(ask: RequestOptions = {}): Promise<string> {
  const answer = await defer(ask)
  expect(answer.status, answer.text).toBe(202)
  return answer.headers.get('location') ?? ''
}

const until = (path: string, expected: JsonObject): Promise<TestResponse> =>
  vi.waitFor(
    async () => {
      const answer = await directory.get(path, { as: 'tokC' })
      expect(answer.json).toMatchObject(expected)
      return answer
    },
    { timeout: 8000, interval: 20 },
  )

/** A response of the agent that waits until it is released. */
function held() {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let closed = false
  agent.reply = async ({ json }: Received, response) => {
    response.on('close', () => {
      closed = !response.writableFinished
    })
    await released
    sendJson(response, json)
  }
  return { release: () => release(), isClosed: () => closed }
}

describe('deferred calls', () => {
  it('AURI-8-02 return 202 with a Location, which is polled until the result is available', async () => {
    const { release } = held()
    const answer = await defer()
    expect(answer.status, answer.text).toBe(202)
    expect(answer.headers.get('location')).toBe(`/tasks/${answer.json.taskId}`)
    const path = answer.headers.get('location') ?? ''
    const running = await until(path, { status: 'running', agent: 'x', operation: 'invoke' })
    expect(Number(running.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(running.json).not.toHaveProperty('result')
    release()
    const done = await until(path, { status: 'completed', result: { text: 'hello' } })
    expect(done.headers.has('retry-after')).toBe(false)
    expect(done.headers.get('cache-control')).toBe('no-store')
    expect(agent.calls).toHaveLength(1)
  })

  it('AURI-8-04 return a taskId and a poll interval', async () => {
    const { json, headers } = await defer()
    expect(json).toEqual({ taskId: expect.stringMatching(/^[\w-]{36}$/), status: 'pending', pollInterval: 2 })
    expect(headers.get('retry-after')).toBe('2')
  })

  it('end with the error of the agent, or of the gateway', async () => {
    agent.reply = fixed({ error: { code: 'TooHard', message: 'no idea' } }, 422)
    await until(await deferred(), { status: 'failed', error: { code: 'TooHard', message: 'no idea' }, httpStatus: 422 })
    agent.reply = (_received, response) => response.writeHead(200).end('not JSON at all')
    await until(await deferred(), { status: 'failed', error: { code: 'AgentError' }, httpStatus: 502 })
  })

  it('AURI-8-02 are polled at an agent that itself returns 202', async () => {
    let asked = 0
    agent.reply = ({ method, path }, response) => {
      if (method === 'POST') {
        const headers = { location: '/jobs/7', 'retry-after': '1' }
        return sendJson(response, { taskId: 'job-7', status: 'working', pollInterval: 1 }, 202, headers)
      }
      if (path !== '/jobs/7') return sendJson(response, { error: { code: 'NotFound', message: path } }, 404)
      if (++asked === 1) return sendJson(response, { taskId: 'job-7', status: 'working', pollInterval: 1 }, 202)
      return sendJson(response, { text: 'at last' })
    }
    const answer = await directory.post('/agents/x/invoke', { as: 'tokC', body: { text: 'hello' } })
    expect(answer.status, answer.text).toBe(202)
    await until(answer.headers.get('location') ?? '', { status: 'completed', result: { text: 'at last' } })
    expect(asked).toBe(2)
  })

  it('can be read and cancelled only by their creator', async () => {
    const path = await deferred()
    expectError(await directory.get(path, { as: 'tokA' }), { status: 404 })
    expectError(await directory.delete(path, { as: 'tokB' }), { status: 404 })
    expectError(await directory.get(path), { status: 401 })
    expectError(await directory.get('/tasks/no-such-task', { as: 'tokC' }), { status: 404 })
    expect((await directory.get(path, { as: 'admin' })).status).toBe(200)
  })

  it('AURI-8.1.1-01 are visible in their session, by header or query, and in no other', async () => {
    const path = await deferred({ headers: { 'x-session-id': 'abcde-12345' } })
    const get = (query: string, headers = {}) => directory.get(path + query, { as: 'tokC', headers })
    expect((await get('', { 'x-session-id': 'abcde-12345' })).json).toMatchObject({ sessionId: 'abcde-12345' })
    expect((await get('?sessionId=abcde-12345')).status).toBe(200)
    expectError(await get('', { 'x-session-id': 'another' }), { status: 404 })
    expectError(await get('?sessionId=another'), { status: 404 })
    expectError(await get('?sessionId=a', { 'x-session-id': 'b' }), { status: 400, member: 'sessionId' })
  })

  it('are cancelled by DELETE, together with the agent’s work', async () => {
    const { isClosed, release } = held()
    const path = await deferred()
    await until(path, { status: 'running' })
    await vi.waitFor(() => expect(agent.calls).toHaveLength(1))
    const answer = await directory.delete(path, { as: 'tokC' })
    expect(answer).toMatchObject({ status: 200, json: { status: 'cancelled', cancellation: { state: 'stopped' } } })
    await vi.waitFor(() => expect(isClosed()).toBe(true), { timeout: 5000 })
    release()
    expect(await directory.delete(path, { as: 'tokC' })).toMatchObject({ status: 200, json: { status: 'cancelled' } })
    const { entries } = (await directory.get('/admin/audit?action=task.cancel&limit=1', { as: 'admin' })).json
    expect(entries).toMatchObject([{ actor: 'tokC', agent: 'x' }])
  })

  it('return 405 with Allow for other methods', async () => {
    const answer = await directory.put(await deferred(), { as: 'tokC', body: {} })
    expectError(answer, { status: 405 })
    expect(answer.headers.get('allow')).toBe('GET, DELETE')
  })

  it('are stored for a day after they have ended', async () => {
    const path = await deferred()
    await until(path, { status: 'completed' })
    clock.advance(86_400 - 10)
    expect((await directory.get(path, { as: 'tokC' })).status).toBe(200)
    clock.advance(20)
    expectError(await directory.get(path, { as: 'tokC' }), { status: 404 })
  })
})

describe('deferred calls of a directory that stops', () => {
  it('survive a restart with their results', async () => {
    const path = await deferred()
    const { json } = await until(path, { status: 'completed' })
    await directory.restart()
    expect((await directory.get(path, { as: 'tokC' })).json).toEqual(json)
  })

  it('run again after kill -9 if they are idempotent, and otherwise fail as interrupted', async () => {
    const folder = temporaryFolder()
    const args = ['--data', folder.path]
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' }
    let server = await startServer(args)
    const ask = async (method: string, path: string, body?: JsonObject, more: Record<string, string> = {}) => {
      const content = body && { body: JSON.stringify(body) }
      const response = await fetch(server.url + path, { method, headers: { ...headers, ...more }, ...content })
      return { status: response.status, json: JSON.parse(await response.text()) }
    }
    agent.reply = () => {}
    await ask('POST', '/agents', agent.document())
    const prefer = { prefer: 'respond-async' }
    const once = await ask('POST', '/agents/x/invoke', { text: 'once' }, prefer)
    const again = await ask('POST', '/agents/x/invoke', { text: 'again' }, { ...prefer, 'idempotency-key': 'k1' })
    await vi.waitFor(() => expect(agent.calls).toHaveLength(2))
    await server.stop('SIGKILL')
    agent.reply = echo
    server = await startServer(args)
    const ended = (taskId: string, expected: JsonObject) =>
      vi.waitFor(async () => expect((await ask('GET', `/tasks/${taskId}`)).json).toMatchObject(expected), {
        timeout: 10_000,
        interval: 50,
      })
    await ended(once.json.taskId, { status: 'failed', error: { code: 'Interrupted' } })
    await ended(again.json.taskId, { status: 'completed', result: { text: 'again' } })
    expect(agent.calls.map(({ json }) => json.text).toSorted()).toEqual(['again', 'again', 'once'])
    await server.stop()
    folder.remove()
  })
})

describe('webhooks', () => {
  interface Notification {
    headers: IncomingHttpHeaders
    body: string
  }
  let notifications: Notification[]
  let statuses: number[]
  let url: string
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    notifications.push({ headers: request.headers, body })
    response.writeHead(statuses.shift() ?? 204, { location: 'http://127.0.0.1:1/' }).end()
  })

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?for=carol`
  })
  afterAll(() => server.close())
  beforeEach(() => {
    notifications = []
    statuses = []
  })
  afterEach(() => {
    statuses = []
  })

  const callback = () => ({ headers: { 'x-callback-url': url } })

  it('AURI-8-03 receive the result', async () => {
    const path = await deferred(callback())
    await until(path, { status: 'completed', callback: { state: 'delivered', attempts: 1 } })
    expect(notifications).toHaveLength(1)
    const event = JSON.parse(notifications[0]?.body ?? '')
    expect(event).toMatchObject({ taskId: path.slice('/tasks/'.length), payload: { result: { text: 'hello' } } })
  })

  it('AURI-8-08 receive a type, a payload and identifiers', async () => {
    agent.reply = fixed({ error: { code: 'TooHard', message: 'no' } }, 400)
    const path = await deferred(callback())
    await until(path, { callback: { state: 'delivered' } })
    const taskId = path.slice('/tasks/'.length)
    expect(JSON.parse(notifications[0]?.body ?? '')).toEqual({
      type: 'task.failed',
      id: `${taskId}.failed`,
      taskId,
      agent: 'x',
      operation: 'invoke',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      payload: expect.objectContaining({ taskId, status: 'failed', error: { code: 'TooHard', message: 'no' } }),
    })
  })

  it('receive a body that is signed with the directory’s key', async () => {
    await until(await deferred(callback()), { callback: { state: 'delivered' } })
    const [{ headers, body } = { headers: {}, body: '' }] = notifications
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    const { keys } = (await directory.get('/.well-known/jwks.json')).json
    const message = { headers: texts, body, request: { method: 'POST', url } }
    const { covered } = verifyMessage(message, keys)
    expect(covered).toEqual(['"@method"', '"@target-uri"', '"content-type"', '"content-digest"'])
    const elsewhere = { ...message, request: { method: 'POST', url: 'http://elsewhere.example/' } }
    expect(() => verifyMessage(elsewhere, keys)).toThrow('does not verify')
    expect(JSON.stringify(texts)).not.toContain('Bearer')
  })

  it('are not notified again after they rejected the event', async () => {
    for (const status of [410, 400]) {
      statuses = [status]
      await until(await deferred(callback()), { status: 'completed', callback: { state: 'failed', attempts: 1 } })
    }
    expect(notifications).toHaveLength(2)
  })

  it.each([
    ['http://hooks.example/', 'https'],
    ['https://user:secret@hooks.example/', 'user name'],
    ['/relative', 'absolute'],
    ['ftp://127.0.0.1/', 'https'],
    [`https://hooks.example/${'x'.repeat(2048)}`, 'characters'],
    ['https://10.0.0.1/hook', 'private address'],
    ['https://0xa9fea9fe/latest/meta-data', 'metadata address'],
    ['https://[::ffff:192.168.0.1]/', 'private address'],
    ['https://[fd00::1]/', 'private address'],
  ])('are rejected at once if the URL is %s', async (bad, says) => {
    const answer = await defer({ headers: { 'x-callback-url': bad } })
    expectError(answer, { status: 400, says })
    expect(answer.text).not.toContain('secret')
    expect(agent.calls).toEqual([])
  })

  it('are rejected at once if they lead back to the directory', async () => {
    const answer = await defer({ headers: { 'x-callback-url': `${directory.url}/hook` } })
    expectError(answer, { status: 400, says: 'is this gateway itself' })
  })
})
