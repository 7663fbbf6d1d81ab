import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invokeAgent, streamAgent } from '@switchboard/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLocalClient, createLocalRuntime } from '../src/index.js'
import { type Computer, type Seen, sendRaw, startAgent, startComputer } from './support/computer.js'

const DESCRIPTOR = {
  name: 'Notes',
  version: '1.0.0',
  description: 'Keeps notes.',
  capabilities: [{ name: 'add' }, { name: 'list' }],
  transport: { unix: '/somewhere/else.sock', https: 'https://notes.example' },
}

let computer: Computer
let folder: string
let agent: Awaited<ReturnType<typeof startAgent>>
let onSocket: Awaited<ReturnType<typeof startAgent>>
const agentSocket = () => join(folder, 'agent.sock')

const handle = ({ url, method, body }: Seen, response: Parameters<Parameters<typeof startAgent>[0]>[1]): void => {
  if (url === '/agent.json') {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(DESCRIPTOR))
  } else if (url === '/count') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: 1\n\ndata: 2\n\n')
  } else if (url === '/later') {
    response.writeHead(202, { location: 'http://localhost/tasks/t%2F1', 'retry-after': '0' }).end('{}')
  } else if (url === '/tasks/t%2F1') {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ done: method }))
  } else if (url === '/away') {
    response.writeHead(302, { location: 'https://elsewhere.example' }).end()
  } else if (url === '/breaks') {
    response.destroy()
  } else {
    response
      .writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b', 'x-session-id': 's1' })
      .end(JSON.stringify({ url, body }))
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'switchboard-agents-'))
  agent = await startAgent(handle)
  onSocket = await startAgent(handle, agentSocket())
})
afterAll(async () => {
  await Promise.all([agent.close(), onSocket.close()])
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  computer = await startComputer()
  agent.seen.length = 0
})
afterEach(() => computer.close())

const retry = { retries: 0 }
const raw = (method: string, path: string, body = '{}') =>
  sendRaw(`http://localhost${path}`, {
    method,
    socketPath: computer.socket,
    headers: ['host', 'localhost', 'content-type', 'application/json', 'content-length', String(body.length)],
    body,
  })
const settings = () => ({ localSocket: computer.socket, retry })

describe('the socket', () => {
  it('can only be opened by this user', () => {
    expect(statSync(computer.socket).mode & 0o777).toBe(0o600)
    expect(statSync(join(computer.socket, '..')).mode & 0o777).toBe(0o700)
    expect(statSync(computer.state).mode & 0o777).toBe(0o700)
  })

  it('restricts a folder that other users could open', async () => {
    const open = join(folder, 'open')
    mkdirSync(open, { mode: 0o755 })
    const runtime = await createLocalRuntime({ socket: join(open, 'local.sock'), state: open })
    expect(statSync(open).mode & 0o777).toBe(0o700)
    await runtime.close()
  })

  it('is rejected in a folder that is a symbolic link, and for a second runtime', async () => {
    symlinkSync(folder, join(folder, 'link'))
    const state = computer.state
    await expect(createLocalRuntime({ socket: join(folder, 'link', 'local.sock'), state })).rejects.toMatchObject({
      code: 'unusable',
    })
    await expect(createLocalRuntime({ socket: computer.socket, state })).rejects.toMatchObject({ code: 'conflict' })
    expect(await computer.client.agents()).toEqual([])
  })

  it('replaces the stale socket of a killed runtime', async () => {
    const left = join(folder, 'left.sock')
    const program = `require('net').createServer().listen(${JSON.stringify(left)}, () => process.kill(process.pid, 'SIGKILL'))`
    spawnSync(process.execPath, ['-e', program])
    expect(statSync(left).isSocket()).toBe(true)
    const runtime = await createLocalRuntime({ socket: left, state: computer.state })
    expect(await createLocalClient(left).agents()).toEqual([])
    await runtime.close()
  })

  it('never overwrites a regular file', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, 'precious')
    await expect(createLocalRuntime({ socket: file, state: computer.state })).rejects.toMatchObject({
      code: 'unusable',
    })
    expect(readFileSync(file, 'utf8')).toBe('precious')
  })
})

describe('registered agents', () => {
  it('AURI-6.1-03 AURI-6.1-08 are found and called by agent+local://name until they are removed', async () => {
    await computer.client.register('Notes', { url: agent.url, descriptor: DESCRIPTOR })
    const call = () => invokeAgent('agent+local://notes/add?n=1', { text: 'milk' }, { ...settings(), sessionId: 's1' })
    const reply = await call()
    expect(reply).toMatchObject({ output: { url: '/add', body: '{"n":"1","text":"milk"}' }, sessionId: 's1' })
    expect(agent.seen[0]?.headers).toMatchObject({ 'x-session-id': 's1', host: new URL(agent.url).host })
    await computer.client.unregister('notes')
    await expect(call()).rejects.toMatchObject({ code: 'not_found' })
    await expect(computer.client.unregister('notes')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('AURI-6.1-04 are found by agent+unix://name on the socket they registered, whatever their descriptor claims', async () => {
    await computer.client.register('notes', { socket: agentSocket(), descriptor: DESCRIPTOR })
    const reply = await invokeAgent('agent+unix://notes/add', { a: 1 }, settings())
    expect(reply.output).toEqual({ url: '/add', body: '{"a":1}' })
    await computer.client.unregister('notes')
    // An agent on a port has no socket, so the path in its descriptor is ignored.
    await computer.client.register('notes', { url: agent.url, descriptor: DESCRIPTOR })
    await expect(invokeAgent('agent+unix://notes/add', {}, settings())).rejects.toMatchObject({ code: 'not_found' })
  })

  it('can stream, defer and be cancelled through the runtime', async () => {
    await computer.client.register('notes', { socket: agentSocket() })
    const parts: unknown[] = []
    for await (const { data } of streamAgent('agent+local://notes/count', {}, settings())) parts.push(data)
    expect(parts).toEqual([1, 2])
    expect((await invokeAgent('agent+local://notes/later', {}, settings())).output).toEqual({ done: 'GET' })
    expect((await raw('DELETE', '/agents/notes/tasks/t%2F1')).json).toEqual({ done: 'DELETE' })
  })

  it('return 502 if they fail or redirect, and 503 if they are gone, and are then removed', async () => {
    const temporary = await startAgent(handle)
    await computer.client.register('notes', { url: temporary.url, descriptor: DESCRIPTOR })
    const call = (operation: string) => invokeAgent(`agent+local://notes/${operation}`, {}, settings())
    await expect(call('breaks')).rejects.toMatchObject({ status: 502 })
    await expect(call('away')).rejects.toMatchObject({ status: 502 })
    await temporary.close()
    await expect(call('add')).rejects.toMatchObject({ code: 'unavailable' })
    await expect(call('add')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('keep their name as long as they listen, and may register again', async () => {
    const first = await startAgent(handle)
    await computer.client.register('notes', { url: first.url })
    await computer.client.register('notes', { url: first.url })
    await expect(computer.client.register('notes', { url: agent.url })).rejects.toMatchObject({ code: 'conflict' })
    await first.close()
    await computer.client.register('notes', { url: agent.url })
    expect(await computer.client.agents()).toEqual([
      { name: 'notes', description: 'Keeps notes.', capabilities: ['add', 'list'], target: { url: agent.url } },
    ])
  })

  it.each([
    ['a host on another computer', { url: 'http://192.0.2.1:80' }, /\/url must be an http URL on 127/],
    ['a host name that DNS resolves', { url: 'http://me.localhost.example' }, /\/url/],
    ['credentials', { url: 'http://a:b@127.0.0.1:1' }, /userinfo/],
    ['a file that is not a socket', { socket: '/etc/passwd' }, /no socket at \/etc\/passwd/],
    ['a relative socket', { socket: 'x.sock' }, /absolute/],
    ['an empty URL', { url: '' }, /\/url/],
    [
      'capabilities of a wrong type',
      { url: 'http://127.0.0.1:1', descriptor: { name: 'x', capabilities: 7 } },
      /capabilities/,
    ],
  ])('are rejected with %s', async (_what, registration, reason) => {
    await expect(computer.client.register('notes', registration)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(reason),
    })
  })

  it.each(['', '.', '..', 'a b', 'a/b', 'ä', '-a', 'x'.repeat(64)])('are rejected with the name %j', async (name) => {
    const registration = { url: agent.url, descriptor: DESCRIPTOR }
    await expect(computer.client.register(name, registration)).rejects.toMatchObject({
      code: expect.stringMatching(/invalid_input|not_found/),
    })
    expect(await computer.client.agents()).toEqual([])
  })

  it('AURI-10-12 have their calls logged, without inputs and outputs', async () => {
    await computer.client.register('notes', { url: agent.url })
    await invokeAgent('agent+local://notes/add', { text: 'very secret' }, settings())
    const entries = await computer.client.log()
    expect(entries).toEqual([
      {
        at: expect.any(String),
        event: 'call',
        agent: 'notes',
        capability: 'add',
        status: 200,
        duration: expect.any(Number),
      },
    ])
    expect(statSync(join(computer.state, 'local-log.jsonl')).mode & 0o777).toBe(0o600)
  })

  it('never receive cookies or unrelated headers, and cannot set cookies', async () => {
    await computer.client.register('notes', { url: agent.url, descriptor: DESCRIPTOR })
    const headers = { cookie: 'a=b', 'x-forwarded-for': '1.2.3.4', authorization: 'Bearer key-of-the-agent' }
    await invokeAgent('agent+local://notes/add', {}, { ...settings(), headers })
    expect(agent.seen[0]?.headers).toMatchObject({ authorization: 'Bearer key-of-the-agent' })
    expect(agent.seen[0]?.headers).not.toHaveProperty('cookie')
    expect(agent.seen[0]?.headers).not.toHaveProperty('x-forwarded-for')
    const response = await raw('POST', '/agents/notes/add')
    expect(response.headers).toMatchObject({ 'x-session-id': 's1' })
    expect(response.headers).not.toHaveProperty('set-cookie')
  })
})

describe('hostile requests', () => {
  it('are rejected: oversized bodies, malformed paths, paths outside the agent', async () => {
    await computer.client.register('notes', { url: agent.url, descriptor: DESCRIPTOR })
    const tooLong = { text: 'x'.repeat(1024 * 1024) }
    await expect(invokeAgent('agent+local://notes/add', tooLong, settings())).rejects.toMatchObject({ status: 413 })
    for (const path of ['/agents/notes/%2e%2e', '/agents/notes/a%2F..%2Fb', '/agents/notes/a/b', '/nowhere']) {
      expect([path, (await raw('POST', path)).status]).toEqual([path, 404])
    }
    expect((await raw('POST', '/agents/notes/%zz')).status).toBe(400)
    expect((await raw('GET', '/agents/notes/add')).status).toBe(405)
    expect((await raw('PUT', '/agents/notes', '{"url":1,"url":2}')).json.detail).toMatch(/duplicate member "url"/)
    expect((await raw('PUT', '/agents/notes', '[]')).json.detail).toMatch(/object/)
    expect(agent.seen).toEqual([])
  })
})
