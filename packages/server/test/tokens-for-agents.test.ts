import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { echo, fixed, startAgent, type TestAgent } from './invoke/agent.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { expectError } from './support/errors.js'
import { startIssuer, type TestIssuer } from './support/issuer.js'
import { startTokenEndpoint, type TokenEndpoint } from './support/token-endpoint.js'

let directory: TestDirectory
let agent: TestAgent
let issuer: TestIssuer
let endpoint: TokenEndpoint

beforeAll(async () => {
  agent = await startAgent()
  issuer = await startIssuer()
  endpoint = await startTokenEndpoint()
  directory = await startDirectory({ issuers: [issuer.trust] })
})
afterAll(async () => {
  await directory.close()
  await Promise.all([agent.close(), issuer.close(), endpoint.close()])
})
beforeEach(async () => {
  await directory.clear()
  endpoint.reset()
  agent.reply = echo
  agent.calls.length = 0
  await directory.post('/agents', { as: 'tokA', body: agent.document() })
})

const PATH = '/admin/agents/x/credential'
const SECRET = 'the: client%secret'
/** Every test has its own audience, so that none finds a token or failure that another one has left in the cache. */
let audiences = 0
const target = () => ({ token_url: endpoint.url, audience: `agent-${++audiences}` })
const clientCredentials = (more: JsonObject = {}) => ({
  type: 'client_credentials',
  client_id: 'gate way',
  client_secret: SECRET,
  scope: 'run',
  ...target(),
  ...more,
})
const exchange = (more: JsonObject = {}) => ({ type: 'token_exchange', ...target(), ...more })
const set = (body: JsonObject) => directory.put(PATH, { as: 'admin', body })
const facts = async () => (await directory.get(PATH, { as: 'admin' })).json
const call = (options: { key?: string } = {}) =>
  directory.post('/agents/x/invoke', { as: 'tokC', body: { text: 'hello' }, ...options })
const received = () => agent.calls.map(({ headers }) => headers.authorization)
const callerToken = (sub = 'alice') => issuer.token({ sub, scope: 'discover invoke' })

describe('client credentials', () => {
  it('get a token for the agent, which all callers share', async () => {
    const credential = clientCredentials()
    expect((await set(credential)).status).toBe(200)
    expect((await call()).status).toBe(200)
    expect((await call({ key: await callerToken() })).status).toBe(200)
    expect(received()).toEqual([0, 0].map((i) => `Bearer ${endpoint.issued[i]}`))
    expect(endpoint.requests).toEqual([
      {
        form: { grant_type: 'client_credentials', scope: 'run', audience: credential.audience },
        authorization: `Basic ${btoa('gate+way:the%3A+client%25secret')}`,
      },
    ])
  })

  it('can be sent in the form', async () => {
    await set(clientCredentials({ token_endpoint_auth_method: 'client_secret_post', resource: 'https://a.example' }))
    await call()
    expect(endpoint.requests).toMatchObject([
      {
        form: { client_id: 'gate way', client_secret: SECRET, resource: 'https://a.example' },
        authorization: undefined,
      },
    ])
  })

  it('are shown without the secret', async () => {
    const { client_secret: _, ...shown } = clientCredentials()
    const { json } = await set({ ...shown, client_secret: SECRET })
    const origins = [new URL(agent.url).origin]
    expect(json).toEqual({ agent: 'x', ...shown, origins, set_at: expect.stringMatching(/Z$/) })
    expect(await facts()).toEqual(json)
  })

  it('survive a restart, but their tokens do not', async () => {
    await set(clientCredentials())
    await call()
    await directory.restart()
    expect((await call()).status).toBe(200)
    expect(endpoint.requests).toHaveLength(2)
  })

  it('get a new token before the old one expires', async () => {
    await set(clientCredentials())
    endpoint.response = { expires_in: 1 }
    await call()
    await expect
      .poll(async () => {
        expect((await call()).status).toBe(200)
        return new Set(received()).size
      })
      .toBeGreaterThan(1)
  })

  it('get a new token after the agent has rejected the old one with 401, once', async () => {
    await set(clientCredentials())
    agent.reply = fixed({}, 401)
    for (let i = 0; i < 4; i++) expectError(await call(), { status: 502 })
    agent.reply = echo
    expect((await call()).status).toBe(200)
    expect(endpoint.requests).toHaveLength(2)
    expect(received()).toEqual([0, 1, 1, 1, 1].map((i) => `Bearer ${endpoint.issued[i]}`))
  })

  it('are sent nowhere after the agent has moved', async () => {
    await set(clientCredentials())
    const other = await startAgent()
    await directory.put('/agents/x', { as: 'tokA', body: other.document() })
    expectError(await call(), { status: 502, says: /has moved/ })
    expect(other.calls).toEqual([])
    await other.close()
  })

  it('yield to a credential that the caller sends for the agent', async () => {
    await set(clientCredentials())
    const headers = { 'x-agent-authorization': 'Bearer mine' }
    await directory.post('/agents/x/invoke', { as: 'tokC', body: { text: 'hello' }, headers })
    expect(received()).toEqual(['Bearer mine'])
    expect(endpoint.requests).toEqual([])
  })
})

describe('without a token the agent is not called', () => {
  const FAILURES: [string, () => void, number, RegExp][] = [
    [
      'rejects the client',
      () => Object.assign(endpoint, { status: 401, response: { error: 'invalid_client' } }),
      502,
      /401 \(invalid_client\)/,
    ],
    ['is overloaded', () => Object.assign(endpoint, { status: 503 }), 503, /status 503/],
    [
      'breaks the connection',
      () => {
        endpoint.intercept = (response) => response.destroy()
      },
      503,
      /did not respond/,
    ],
    [
      'redirects',
      () => {
        endpoint.intercept = (response) => response.writeHead(307, { location: '/elsewhere' }).end()
      },
      503,
      /did not respond/,
    ],
    [
      'sends no JSON',
      () => {
        endpoint.intercept = (response) => response.end('<html>')
      },
      502,
      /no usable access_token/,
    ],
    [
      'never stops sending',
      () => {
        endpoint.intercept = (response) => response.end(`"${'x'.repeat(1 << 20)}"`)
      },
      503,
      /more than 65536 bytes/,
    ],
    [
      'issues a token that breaks the header',
      () => {
        endpoint.response = { access_token: 'a\r\nx-evil: 1' }
      },
      502,
      /no usable access_token/,
    ],
    [
      'issues a token of another type',
      () => {
        endpoint.response = { token_type: 'DPoP' }
      },
      502,
      /not Bearer/,
    ],
    [
      'issues an expired token',
      () => {
        endpoint.response = { expires_in: 0 }
      },
      502,
      /expires_in/,
    ],
  ]

  it.each(FAILURES)('if its endpoint %s', async (_title, fail, status, reason) => {
    await set(clientCredentials())
    fail()
    const answer = await call()
    expectError(answer, { status })
    expect(answer.text).not.toMatch(reason)
    expect(answer.headers.has('retry-after')).toBe(status === 503)
    expect(agent.calls).toEqual([])
    expect((await facts()).last_failure).toEqual({
      at: expect.stringMatching(/Z$/),
      reason: expect.stringMatching(reason),
    })
  })

  it('and the endpoint is not asked again for every call', async () => {
    await set(clientCredentials())
    endpoint.status = 500
    await Promise.all(Array.from({ length: 10 }, () => call()))
    await call()
    expect(endpoint.requests).toHaveLength(1)
  })
})

describe('token exchange', () => {
  it('sends the agent a token that was issued for the caller, never the caller’s own', async () => {
    const credential = exchange({
      client_id: 'gateway',
      client_secret: SECRET,
      actor_token: 'the-gateway',
      scope: 'run',
    })
    await set(credential)
    const [alice, bob] = [await callerToken('alice'), await callerToken('bob')]
    for (const key of [alice, alice, bob]) expect((await call({ key })).status).toBe(200)
    expect(received()).toEqual([0, 0, 1].map((i) => `Bearer ${endpoint.issued[i]}`))
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      actor_token: 'the-gateway',
      actor_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: credential.audience,
      scope: 'run',
    }
    expect(endpoint.requests.map((request) => request.form)).toEqual([
      { ...form, subject_token: alice },
      { ...form, subject_token: bob },
    ])
  })

  it('does not reuse what was issued for another token of the same caller, which may have more rights', async () => {
    await set(exchange())
    await call({ key: await issuer.token({ scope: 'discover invoke', roles: ['everything'] }) })
    await call({ key: await issuer.token({ scope: 'discover invoke' }) })
    expect(new Set(received()).size).toBe(2)
  })

  it('rejects callers with an API key, whose key is sent nowhere', async () => {
    await set(exchange())
    const answer = await call()
    expectError(answer, { status: 401, says: /authenticate to this directory with a token/ })
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect([endpoint.requests, agent.calls]).toEqual([[], []])
  })

  it('fails if the endpoint returns the caller’s own token', async () => {
    await set(exchange())
    const key = await callerToken()
    endpoint.response = { access_token: key }
    expectError(await call({ key }), { status: 502 })
    expect(agent.calls).toEqual([])
  })

  it('keeps the token for a deferred call, when the caller’s is no longer known', async () => {
    await set(exchange())
    const key = await callerToken()
    const headers = { prefer: 'respond-async' }
    const { status, json } = await directory.post('/agents/x/invoke', { key, body: { text: 'later' }, headers })
    expect(status).toBe(202)
    const task = async () => (await directory.get(`/tasks/${json.taskId}`, { key })).json.status
    await expect.poll(task).toBe('completed')
    expect(received()).toEqual([`Bearer ${endpoint.issued[0]}`])
    expect(endpoint.requests).toHaveLength(1)
  })
})

describe('a credential for tokens', () => {
  it.each([
    [{ type: 'client_credentials', client_id: 'a', client_secret: 'b' }, '/token_url'],
    [clientCredentialsOf('http://idp.example/token'), '/token_url'],
    [clientCredentialsOf('https://user@idp.example/token'), '/token_url'],
    [clientCredentialsOf('ftp://idp.example/token'), '/token_url'],
    [{ type: 'token_exchange', token_url: 'https://idp.example/token' }, '/audience'],
    [
      { type: 'token_exchange', token_url: 'https://idp.example/token', audience: 'a', client_secret: 's' },
      '/client_id',
    ],
    [
      { type: 'client_credentials', token: 'x', token_url: 'https://i.example', client_id: 'a', client_secret: 'b' },
      '/token',
    ],
  ])('is rejected if it cannot be used: %j', async (body, member) => {
    expectError(await set(body), { status: 400, member })
  })
})

function clientCredentialsOf(url: string): JsonObject {
  return { type: 'client_credentials', token_url: url, client_id: 'a', client_secret: 'b' }
}
