import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startAgent, type TestAgent } from '../invoke/agent.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import { temporaryFolder } from '../support/process.js'
import { type Authority, createAuthority, type Identity, sendTls } from '../support/tls.js'

const folder = temporaryFolder()
let authority: Authority
let agent: TestAgent
beforeAll(async () => {
  authority = createAuthority(folder.path, 'authority')
  agent = await startAgent()
})
afterAll(async () => {
  await agent.close()
  folder.remove()
})

const startTls = (changes = {}): Promise<TestDirectory> =>
  startDirectory({
    tls: { ...authority.issue('/CN=directory', 'IP:127.0.0.1'), clientCa: authority.cert, clientRequired: false },
    ...changes,
  })

describe('a request to upgrade to another protocol', () => {
  /** The responses to requests that are sent one after another on one connection. */
  const send = async (socket: Socket, requests: readonly string[]): Promise<string[]> => {
    const answers: string[] = []
    for (const request of requests) {
      const answer = new Promise<string>((resolve, reject) => {
        let text = ''
        socket.on('error', reject).on('data', (chunk) => {
          text += chunk
          const [head = '', body = ''] = text.split('\r\n\r\n')
          if (body.length > 0 && body.length >= Number(/content-length: (\d+)/.exec(head)?.[1])) resolve(text)
        })
      })
      // In two pieces: the body arrives after the headers.
      const cut = request.indexOf('\r\n\r\n') + 6
      socket.write(request.slice(0, cut))
      setTimeout(() => socket.write(request.slice(cut)), 20)
      answers.push(await answer)
      socket.removeAllListeners('data')
    }
    socket.destroy()
    return answers
  }
  const request = (key: string, text: string): string => {
    const body = JSON.stringify({ text })
    const lines = [
      'POST /agents/x/invoke HTTP/1.1',
      'Host: directory',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
      `Content-Length: ${body.length}`,
    ]
    return `${lines.join('\r\n')}\r\n\r\n${body}`
  }

  it('is served without the upgrade, with its body, on the same connection', async () => {
    const directory = await startDirectory()
    await directory.post('/agents', { as: 'tokA', body: agent.document() })
    const key = await directory.makeKey({ subject: 'java', scopes: ['invoke'] })
    const socket = connect(Number(new URL(directory.url).port), '127.0.0.1')
    const answers = await send(socket, [request(key, 'one'), request(key, 'two')])
    const ending = (text: string) =>
      expect.stringMatching(new RegExp(`^HTTP/1.1 200 OK\r\n(.*\r\n)+{"text":"${text}"}$`))
    expect(answers).toEqual([ending('one'), ending('two')])
    await directory.close()
  })

  it('is served in the same way over TLS', async () => {
    const directory = await startTls()
    const { port } = new URL(directory.url)
    const socket = connectTls({ host: '127.0.0.1', port: Number(port), ca: authority.cert })
    const [answer] = await send(socket, [request(directory.adminKey, 'one')])
    // Without a body it would be rejected before the agent is looked up.
    expect(answer).toMatch(/^HTTP\/1.1 404 /)
    await directory.close()
  })
})

describe('a page of another origin', () => {
  let directory: TestDirectory
  let client: Identity
  const HOME = 'https://console.example'
  beforeAll(async () => {
    directory = await startTls({ certificates: { scopes: ['invoke', 'discover'] }, cors: { origins: [HOME] } })
    client = authority.issue('/CN=person', 'DNS:person.example')
  })
  afterAll(() => directory.close())

  const post = (headers: Record<string, string>) =>
    sendTls(directory.url, { ca: authority.cert, identity: client, method: 'POST', path: '/agents/x/invoke', headers })

  it('cannot call agents with the certificate that the browser sends', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      expectError(await post({ origin }), { status: 403, says: 'certificate' })
    }
    const headers = { origin: 'https://evil.example' }
    const url = `${directory.url.replace('https', 'wss')}/agents/x/invoke`
    const socket = new WebSocket(url, { ca: authority.cert, ...client, headers })
    const status = await new Promise((resolve) => {
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode))
      socket.on('open', () => resolve('open'))
      socket.on('error', () => {})
    })
    socket.terminate()
    expect(status).toBe(403)
  })

  it('can call them if the operator allows its origin, as can the directory’s own pages and other clients', async () => {
    for (const headers of [{ origin: HOME }, { origin: directory.url }, {}]) {
      expectError(await post(headers), { status: 404 })
    }
  })
})
