import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startDirectory } from '../support/directory.js'
import { sendRaw } from '../support/raw.js'
import { sendJson } from './agent.js'
import { setUp } from './setup.js'

const setup = setUp()
const { register } = setup
const INPUT = { text: 'hello' }

const open = (path = '/agents/x/invoke', headers: Record<string, string> = {}): WebSocket => {
  const { url, adminKey } = setup.directory
  return new WebSocket(url.replace('http', 'ws') + path, {
    headers: { authorization: `Bearer ${adminKey}`, ...headers },
  })
}

/** The messages until the socket closes, and its close code. */
async function read(socket: WebSocket): Promise<{ text: string; code: number }> {
  let text = ''
  socket.on('message', (data) => {
    text += data.toString()
  })
  const [code] = await once(socket, 'close')
  return { text, code }
}

async function call(input: unknown, path?: string): Promise<{ text: string; code: number }> {
  const socket = open(path)
  await once(socket, 'open')
  socket.send(`${JSON.stringify(input)}\n`)
  return read(socket)
}

/** The status with which an upgrade is rejected. */
async function refusal(socket: WebSocket): Promise<number> {
  const [, response] = await once(socket, 'unexpected-response')
  socket.on('error', () => {})
  socket.terminate()
  return response.statusCode
}

describe('a WebSocket on the path of a call', () => {
  it('AURI-8-06 AIDIP-5.3-01 sends a line of JSON for each part, and closes at the end', async () => {
    await register()
    setup.agent.reply = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"n":1}\n\ndata: {"n":2}\n\n')
    expect(await call(INPUT)).toEqual({ text: '{"n":1}\n{"n":2}\n', code: 1000 })
    expect(setup.agent.calls[0]?.json).toEqual(INPUT)
    expect(setup.agent.calls[0]?.headers).not.toHaveProperty('upgrade')
  })

  it.each(['/v0/agents/x/invoke', '/agents/x/operations/invoke'])('works on %s too', async (path) => {
    await register()
    expect(await call(INPUT, path)).toEqual({ text: '{"text":"hello"}\n', code: 1000 })
  })

  it('AURI-8-06 joins an input that arrives in several messages; a complete one needs no line end', async () => {
    await register()
    const socket = open()
    await once(socket, 'open')
    for (const piece of ['{"te', 'xt":', '"hello"}', '\n']) socket.send(piece)
    expect(await read(socket)).toEqual({ text: '{"text":"hello"}\n', code: 1000 })
    const whole = open()
    await once(whole, 'open')
    whole.send('{"text":"hello"}')
    expect(await read(whole)).toEqual({ text: '{"text":"hello"}\n', code: 1000 })
  })

  it('C-59 sends an error as a line', async () => {
    await register()
    const refused = await call({ text: 5 })
    expect(refused.code).toBe(1008)
    expect(JSON.parse(refused.text)).toMatchObject({
      error: { code: 'InvalidInput', message: expect.stringContaining('/text') },
    })
    expect((await call('{')).code).toBe(1008)
    setup.agent.reply = (_, response) => sendJson(response, null, 500)
    const failed = await call(INPUT)
    expect(failed.code).toBe(1011)
    expect(JSON.parse(failed.text)).toMatchObject({ error: { code: 'AgentError' } })
  })

  it('AURI-10-06 opens only for callers who may call the agent', async () => {
    await register({ visibility: 'private' })
    expect(await refusal(open(undefined, { authorization: '' }))).toBe(401)
    expect(await refusal(open(undefined, { authorization: 'Bearer wrong' }))).toBe(401)
    const key = await setup.directory.makeKey({ subject: 'stranger', scopes: ['discover', 'invoke'] })
    const socket = open(undefined, { authorization: `Bearer ${key}` })
    await once(socket, 'open')
    socket.send('{"text":"a"}')
    expect(JSON.parse((await read(socket)).text)).toMatchObject({ error: { code: 'NotFound' } })
    expect(setup.agent.calls).toEqual([])
  })

  it('stops the agent’s work when it is closed', async () => {
    await register()
    let gone: Promise<unknown> | undefined
    const reached = new Promise<void>((resolve) => {
      setup.agent.reply = (_, response) => {
        gone = once(response, 'close')
        resolve()
      }
    })
    const socket = open()
    await once(socket, 'open')
    socket.send('{"text":"a"}')
    await reached
    socket.close()
    await gone
  })
})

describe('a directory that stops', () => {
  it('closes sockets without a call in progress', async () => {
    const directory = await startDirectory()
    const headers = { authorization: `Bearer ${directory.adminKey}` }
    const socket = new WebSocket(`${directory.url.replace('http', 'ws')}/agents/x/invoke`, { headers })
    await once(socket, 'open')
    const [[code]] = await Promise.all([once(socket, 'close'), directory.close()])
    expect(code).toBe(1001)
  })
})

describe('an upgrade elsewhere', () => {
  it('is ignored', async () => {
    await register()
    expect(await refusal(open('/agents'))).toBe(200)
    expect(await refusal(open('/agents/x'))).toBe(200)
    expect(await refusal(open('/nowhere'))).toBe(404)
    const { url } = setup.directory
    const other = await sendRaw(url, { target: '/agents', headers: { connection: 'close, upgrade', upgrade: 'h2c' } })
    expect(other.status).toBe(200)
  })
})
