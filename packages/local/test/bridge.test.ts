import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { invokeAgent, streamAgent } from '@switchboard/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ConsentRequest } from '../src/index.js'
import { type Computer, type RawRequest, sendRaw, startAgent, startComputer } from './support/computer.js'

const PAGE = 'https://page.example'
const DESCRIPTOR = {
  name: 'notes',
  version: '1.0.0',
  capabilities: [{ name: 'add' }, { name: 'list' }, { name: 'talk' }],
}

let agent: Awaited<ReturnType<typeof startAgent>>
let computer: Computer
/** How the user answers; the requests they see are in `asked`. */
let answer: (request: ConsentRequest, signal: AbortSignal) => Promise<boolean>
const asked: ConsentRequest[] = []

beforeAll(async () => {
  agent = await startAgent(({ url, body }, response) => {
    if (url === '/talk') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    } else if (url === '/list') {
      response.writeHead(202, { location: '/tasks/7' }).end('{"taskId":"7","status":"running"}')
    } else {
      response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b' }).end(body || '{"ok":true}')
    }
  })
})
afterAll(() => agent.close())
beforeEach(async () => {
  asked.length = 0
  agent.seen.length = 0
  answer = async () => true
  computer = await startComputer({
    ask: (request, signal) => {
      asked.push(request)
      return answer(request, signal)
    },
  })
  await computer.client.register('notes', { url: agent.url, descriptor: DESCRIPTOR })
})
afterEach(() => computer.close())

const own = (): string => new URL(computer.bridgeUrl).host

interface PageRequest extends RawRequest {
  readonly origin?: string
  readonly token?: string
}

/** A request as a browser sends it for a page, with more `headers` at the end. */
function fromPage(path: string, { origin = PAGE, token, headers = [], ...rest }: PageRequest = {}) {
  const body = rest.body ?? '{}'
  return sendRaw(computer.bridgeUrl + path, {
    ...rest,
    headers: [
      ...['host', own(), 'origin', origin, 'content-type', 'application/json', 'content-length', String(body.length)],
      ...(token === undefined ? [] : ['authorization', `Bearer ${token}`]),
      ...headers,
    ],
    body,
  })
}

const askConsent = (capability = 'add', more: PageRequest = {}) =>
  fromPage('/consents', { ...more, body: JSON.stringify({ agent: 'notes', capability }) })
const tokenFor = async (capability = 'add', origin = PAGE): Promise<string> =>
  (await askConsent(capability, { origin })).json.token
const call = (token: string | undefined, more: PageRequest = {}, operation = 'add') =>
  fromPage(`/agents/notes/${operation}`, { ...(token !== undefined && { token }), body: '{"text":"milk"}', ...more })

describe('a page', () => {
  it('AURI-6.1-09 is rejected without consent, allowed with it, and rejected again after it is revoked', async () => {
    const asPage: typeof fetch = (input, init) =>
      fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), origin: PAGE } })
    const invoke = (token: string) =>
      invokeAgent(
        'agent+local://notes/add',
        { text: 'milk' },
        { fetch: asPage, localBridge: computer.bridgeUrl, credentials: { type: 'bearer', token } },
      )
    await expect(invoke('no-token-at-all-given')).rejects.toMatchObject({ code: 'permission_denied' })
    const token = await tokenFor()
    expect((await invoke(token)).output).toEqual({ text: 'milk' })
    await computer.client.revoke({ origin: PAGE })
    await expect(invoke(token)).rejects.toMatchObject({ code: 'permission_denied' })
    expect(agent.seen).toHaveLength(1)
  })

  it('needs consent once, which survives a restart', async () => {
    const token = await tokenFor()
    expect(asked).toEqual([{ origin: PAGE, agent: 'notes', capability: 'add', description: '' }])
    expect((await askConsent('add', { token })).json.token).toBe(token)
    await computer.restart()
    await computer.client.register('notes', { url: agent.url, descriptor: DESCRIPTOR })
    expect((await call(token)).status).toBe(200)
    expect(asked).toHaveLength(1)
    const file = join(computer.state, 'consents.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).not.toContain(token)
  })

  it('may only do what the user consented to', async () => {
    const token = await tokenFor('add')
    expect((await call(token, {}, 'list')).status).toBe(403)
    expect((await call(token, {}, 'invoke')).status).toBe(403)
    // The body of `invoke` names the operation, so it needs consent to all capabilities.
    await computer.client.allow({ origin: PAGE, agent: 'notes', capability: 'invoke' })
    expect((await call(token, {}, 'invoke')).status).toBe(403)
    expect((await fromPage('/agents/others/add', { token })).status).toBe(403)
    expect((await fromPage('/agents/notes', { method: 'GET', token })).status).toBe(403)
    expect((await fromPage('/agents/notes', { method: 'PUT', token })).status).toBe(403)
    expect((await fromPage('/agents', { method: 'GET', token })).status).toBe(403)
    expect((await fromPage('/consents', { method: 'GET', token })).status).toBe(403)
    expect((await fromPage('/consents?origin=x', { method: 'DELETE', token })).status).toBe(403)
    expect((await fromPage('/log', { method: 'GET', token })).status).toBe(403)
    expect(agent.seen).toEqual([])
  })

  it('with consent to all capabilities, may call those that the agent lists and no others', async () => {
    const token = await tokenFor('*')
    expect((await call(token, {}, 'add')).status).toBe(200)
    expect((await call(token, {}, 'invoke')).status).toBe(200)
    expect((await call(token, {}, 'mcp')).json.error.code).toBe('CapabilityNotFound')
    expect(agent.seen.map(({ url }) => url)).toEqual(['/add', '/invoke'])
  })

  it('cannot use the token of another origin', async () => {
    const token = await tokenFor()
    await tokenFor('add', 'https://other.example')
    expect((await call(token, { origin: 'https://other.example' })).status).toBe(403)
    expect((await call('x'.repeat(43))).status).toBe(403)
    expect((await call(undefined)).status).toBe(403)
    expect(agent.seen).toEqual([])
  })

  it('reads streams, which end when its consent is revoked', async () => {
    const token = await tokenFor('talk')
    const asPage: typeof fetch = (input, init) =>
      fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), origin: PAGE } })
    const options = { fetch: asPage, localBridge: computer.bridgeUrl, credentials: { type: 'bearer' as const, token } }
    const parts: unknown[] = []
    const read = async (): Promise<void> => {
      for await (const { data } of streamAgent('agent+local://notes/talk', {}, options)) {
        parts.push(data)
        // The agent never ends the stream; only the revocation does.
        await computer.client.revoke({ agent: 'notes' })
      }
    }
    await expect(read()).rejects.toMatchObject({ name: 'ClientError' })
    expect(parts).toEqual([1])
  })

  it('may only poll the deferred calls that it started', async () => {
    const token = await tokenFor('list')
    expect((await fromPage('/agents/notes/tasks/7', { method: 'GET', token })).status).toBe(403)
    const accepted = await call(token, {}, 'list')
    expect([accepted.status, accepted.headers.location]).toEqual([202, '/agents/notes/tasks/7'])
    expect((await fromPage('/agents/notes/tasks/7', { method: 'GET', token })).status).toBe(200)
    const other = await tokenFor('list', 'https://other.example')
    const asOther = { method: 'GET', token: other, origin: 'https://other.example' }
    expect((await fromPage('/agents/notes/tasks/7', asOther)).status).toBe(403)
    expect((await fromPage('/agents/notes/tasks/7', { ...asOther, token })).status).toBe(403)
    await computer.client.revoke({ origin: PAGE })
    expect((await fromPage('/agents/notes/tasks/7', { method: 'GET', token })).status).toBe(403)
  })

  it('AURI-10-12 has consents, refusals and calls logged, without inputs and outputs', async () => {
    const token = await tokenFor()
    await call(token)
    await computer.client.revoke({ origin: PAGE })
    expect((await call(token)).json.error.code).toBe('PermissionDenied')
    answer = async () => false
    await askConsent()
    // Only decisions of the user are logged; otherwise a page could fill the log.
    await askConsent()
    const entries = await computer.client.log()
    expect(entries.map(({ event, origin, agent: name, capability }) => [event, origin, name, capability])).toEqual([
      ['refused', PAGE, 'notes', 'add'],
      ['revoked', PAGE, 'notes', 'add'],
      ['call', PAGE, 'notes', 'add'],
      ['allowed', PAGE, 'notes', 'add'],
    ])
    expect(JSON.stringify(entries)).not.toContain('milk')
    expect(JSON.stringify(entries)).not.toContain(token)
  })
})

describe('the user', () => {
  it('is not asked again about an origin for some time after a refusal', async () => {
    answer = async () => false
    expect((await askConsent()).status).toBe(403)
    answer = async () => true
    expect((await askConsent()).status).toBe(403)
    expect((await askConsent('list')).status).toBe(403)
    expect(asked).toHaveLength(1)
    expect((await askConsent('add', { origin: 'https://other.example' })).status).toBe(200)
  })

  it('can list open requests, and answer them with allow and revoke', async () => {
    answer = () => new Promise(() => {})
    const first = askConsent()
    await expect.poll(async () => (await computer.client.consents()).questions).toHaveLength(1)
    await computer.client.allow({ origin: PAGE, agent: 'notes', capability: '*' })
    const token = (await first).json.token
    expect((await call(token)).status).toBe(200)
    expect((await computer.client.consents()).consents.map(({ capability }) => capability)).toContain('*')

    const second = askConsent('add', { origin: 'https://other.example' })
    await expect.poll(async () => (await computer.client.consents()).questions).toHaveLength(1)
    expect(await computer.client.revoke({ origin: 'https://other.example' })).toEqual({ revoked: [], refused: 1 })
    expect((await second).status).toBe(403)
  })

  it('can allow in advance: the first page that asks gets the token, a second browser needs consent', async () => {
    answer = async () => false
    await computer.client.allow({ origin: PAGE, agent: 'Notes', capability: 'add' })
    expect((await call(await tokenFor())).status).toBe(200)
    expect((await askConsent()).status).toBe(403)
    expect(asked).toHaveLength(1)
    // Allowing it overrides the earlier refusal.
    answer = async () => true
    await computer.client.allow({ origin: PAGE, agent: 'notes', capability: 'add' })
    expect((await askConsent()).status).toBe(200)
  })

  it('is not asked about unknown agents and capabilities, which pages cannot tell from a refusal', async () => {
    const refusal = (await fromPage('/consents', { body: '{"agent":"nobody","capability":"add"}' })).json
    expect(refusal.error.code).toBe('PermissionDenied')
    expect((await askConsent('mcp')).json).toEqual(refusal)
    const token = await tokenFor()
    expect((await askConsent('mcp', { token })).json.error.code).toBe('CapabilityNotFound')
    expect(asked).toHaveLength(1)
  })

  it('is asked about a limited number of origins at a time, and once per origin', async () => {
    answer = () => new Promise(() => {})
    const waiting = Array.from({ length: 8 }, (_, n) => askConsent('add', { origin: `https://p${n}.example` }))
    await expect.poll(async () => (await computer.client.consents()).questions).toHaveLength(8)
    expect((await askConsent('list', { origin: 'https://p1.example' })).status).toBe(429)
    expect((await askConsent('add', { origin: 'https://p9.example' })).status).toBe(429)
    await computer.client.revoke({ agent: 'notes' })
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(8).fill(403))
  })

  it('is no longer asked when the page has left', async () => {
    const ended = new Promise<void>((resolve) => {
      answer = (_request, signal) => new Promise(() => signal.addEventListener('abort', () => resolve()))
    })
    const leaving = new AbortController()
    const body = JSON.stringify({ agent: 'notes', capability: 'add' })
    const headers = { origin: PAGE, 'content-type': 'application/json' }
    const left = fetch(`${computer.bridgeUrl}/consents`, { method: 'POST', headers, body, signal: leaving.signal })
    await expect.poll(() => asked).toHaveLength(1)
    leaving.abort()
    await expect(left).rejects.toThrow()
    await ended
    expect((await computer.client.consents()).questions).toEqual([])
  })

  it('must repair an unreadable consent file before the runtime starts', async () => {
    await tokenFor()
    writeFileSync(join(computer.state, 'consents.json'), '{"consents":[{}]}')
    await expect(computer.restart()).rejects.toMatchObject({ code: 'unusable' })
    writeFileSync(join(computer.state, 'consents.json'), '{"consents":[],"tokens":[]}')
    await computer.restart()
  })
})

describe('a hostile page', () => {
  const HOSTS: [string, string[]][] = [
    ['a host name rebound to this computer', ['rebind.example']],
    ['a rebound host name with the port', ['rebind.example:PORT']],
    ['a subdomain of localhost', ['evil.localhost:PORT']],
    ['no port', ['127.0.0.1']],
    ['another port', ['127.0.0.1:1']],
    ['another loopback address', ['127.0.0.2:PORT']],
    ['no host', []],
    ['two hosts', ['127.0.0.1:PORT', 'rebind.example']],
  ]
  it.each(HOSTS)('is rejected with %s, even with a valid token', async (_what, hosts) => {
    const token = await tokenFor()
    const names = hosts.flatMap((host) => ['host', host.replace('PORT', own().split(':')[1] ?? '')])
    const headers = [...names, 'origin', PAGE, 'content-type', 'application/json', 'authorization', `Bearer ${token}`]
    const { status, headers: received } = await sendRaw(`${computer.bridgeUrl}/agents/notes/add`, {
      headers,
      body: '{}',
    })
    // Node itself rejects a request without Host with 400.
    expect([400, 421]).toContain(status)
    expect(received).not.toHaveProperty('access-control-allow-origin')
    expect(agent.seen).toEqual([])
  })

  it.each([
    ['null'],
    ['http://page.example'],
    ['file://'],
    ['chrome-extension://abc'],
    ['https://page.example/'],
    ['*'],
    [''],
  ])('is rejected with the origin %j', async (origin) => {
    const token = await tokenFor()
    for (const response of [await call(token, { origin }), await askConsent('add', { origin })]) {
      expect(response.status).toBe(403)
      expect(response.headers).not.toHaveProperty('access-control-allow-origin')
    }
    const preflight = await fromPage('/consents', {
      method: 'OPTIONS',
      origin,
      headers: ['access-control-request-method', 'POST'],
    })
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin')
    expect([agent.seen.length, asked.length]).toEqual([0, 1])
  })

  it('is rejected without an Origin header, and with two', async () => {
    const token = await tokenFor()
    const headers = ['host', own(), 'content-type', 'application/json', 'authorization', `Bearer ${token}`]
    const url = `${computer.bridgeUrl}/agents/notes/add`
    expect((await sendRaw(url, { headers, body: '{}' })).status).toBe(403)
    expect((await call(token, { headers: ['origin', 'https://other.example'] })).status).toBe(403)
    expect((await sendRaw(computer.bridgeUrl, { method: 'GET', headers: ['host', own()] })).status).toBe(403)
    expect(agent.seen).toEqual([])
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'cannot send %s, for which browsers need no preflight',
    async (type) => {
      const token = await tokenFor()
      const headers = ['host', own(), 'origin', PAGE, 'content-type', type, 'authorization', `Bearer ${token}`]
      const url = `${computer.bridgeUrl}/agents/notes/add`
      expect((await sendRaw(url, { headers, body: '{}' })).status).toBe(415)
      expect((await sendRaw(`${computer.bridgeUrl}/consents`, { headers, body: '{}' })).status).toBe(415)
      expect(agent.seen).toEqual([])
    },
  )

  it('cannot use cookies, and the agent receives neither cookies nor the token', async () => {
    const token = await tokenFor()
    const { headers } = await call(token, {
      headers: ['cookie', `token=${token}`, 'x-callback-url', 'https://x.example'],
    })
    expect(headers).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'Origin', 'cache-control': 'no-store' })
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
    expect(headers).not.toHaveProperty('set-cookie')
    for (const name of ['cookie', 'authorization', 'x-callback-url', 'origin']) {
      expect(agent.seen[0]?.headers).not.toHaveProperty(name)
    }
    expect((await call(undefined, { headers: ['cookie', `token=${token}`] })).status).toBe(403)
  })

  it('cannot send oversized or malformed bodies', async () => {
    const token = await tokenFor()
    expect((await call(token, { body: `"${'x'.repeat(1024 * 1024)}"` })).status).toBe(413)
    expect((await askConsent('x'.repeat(2001))).status).toBe(400)
    expect((await fromPage('/consents', { body: '{"agent":1}' })).json.detail).toMatch(/\/agent must be a string/)
    expect(agent.seen).toEqual([])
  })
})

describe('a CORS preflight', () => {
  const preflight = (headers: readonly string[], origin = PAGE) =>
    fromPage('/agents/notes/add', {
      method: 'OPTIONS',
      origin,
      headers: ['access-control-request-method', 'POST', ...headers],
    })

  it('is accepted from every page, so that it can read why its request is rejected', async () => {
    const { status, headers } = await preflight(['access-control-request-headers', 'authorization,content-type'])
    expect(status).toBe(204)
    expect(headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-headers': expect.stringMatching(/content-type.*authorization/),
      'access-control-allow-methods': 'GET, POST, DELETE',
    })
    expect(headers).not.toHaveProperty('access-control-allow-private-network')
  })

  it('allows private network access if the browser asks for it', async () => {
    const { headers } = await preflight(['access-control-request-private-network', 'true'])
    expect(headers['access-control-allow-private-network']).toBe('true')
  })

  it('does not call the agent', async () => {
    await tokenFor()
    await preflight([])
    expect(agent.seen).toEqual([])
  })
})
