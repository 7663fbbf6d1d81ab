import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.js'

let provider: OpenIdProvider
let directory: TestDirectory
/** Milliseconds by which the directory's clocks are ahead; only the wall clock can be set back. */
const ahead = { now: 0, monotonic: 0 }
const advance = (ms: number): void => {
  ahead.now += ms
  ahead.monotonic += ms
}
beforeAll(async () => {
  provider = await startOpenIdProvider()
  directory = await startDirectory(
    { issuers: [{ ...provider.trust, introspection: { ...provider.introspection, cacheSeconds: 1 } }] },
    { now: () => Date.now() + ahead.now, monotonic: () => performance.now() + ahead.monotonic },
  )
})
beforeEach(() => {
  ahead.now = 0
  provider.available = true
})
afterAll(async () => {
  await directory.close()
  await provider.close()
})

const register = (key: string, id: string): Promise<TestResponse> =>
  directory.post('/agents', { key, body: aidipAgent({ id }) })
const read = (key: string): Promise<TestResponse> => directory.get('/agents', { key })

describe('JWTs of an OpenID provider', () => {
  it.each(['ES256', 'RS256'] as const)(
    'AD-8.2-02 are accepted if signed with %s; their subject owns agents',
    async (algorithm) => {
      expect((await register(await provider.token({ algorithm }), algorithm)).status).toBe(201)
      expect((await directory.delete(`/agents/${algorithm}`, { key: await provider.token() })).status).toBe(204)
    },
  )

  it('have the scopes that the provider granted', async () => {
    expectError(await register(await provider.token({ scope: 'discover' }), 'never'), { status: 403 })
    expect((await directory.get('/admin/keys', { key: await provider.token({ scope: 'admin' }) })).status).toBe(200)
  })

  it('AD-8.2-02 are rejected after they have expired', async () => {
    const key = await provider.token({ lifetime: 60 })
    expect((await read(key)).status).toBe(200)
    advance(61_000)
    expectError(await read(key), { status: 401, says: /expired/ })
  })

  it('AD-8.2-02 are rejected if meant for another audience', async () => {
    const key = await provider.token({ audience: 'https://elsewhere.example' })
    expectError(await read(key), { status: 401, says: /claim aud/ })
  })

  it.each(['HS256', 'ES512'] as const)('AD-8.2-02 are rejected if signed with %s', async (algorithm) => {
    expectError(await read(await provider.token({ algorithm })), { status: 401, says: /algorithm/ })
  })

  it('are accepted at once after the provider has rotated its keys; those of the old keys are not', async () => {
    const before = await provider.token()
    expect((await read(before)).status).toBe(200)
    await provider.rotateKeys()
    const keys = await Promise.all(Array.from({ length: 10 }, () => provider.token()))
    const fetched = provider.requests.get('/jwks') ?? 0
    const answers = await Promise.all(keys.map(read))
    expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200))
    expect(provider.requests.get('/jwks')).toBe(fetched + 1)
    expectError(await read(before), { status: 401 })
  })

  it('are still accepted while the provider is down', async () => {
    const key = await provider.token()
    expect((await read(key)).status).toBe(200)
    provider.available = false
    advance(11 * 60_000) // the keys are due to be fetched again
    expect((await read(key)).status).toBe(200)
  })
})

describe('opaque tokens of an OpenID provider', () => {
  const opaque = (request = {}): Promise<string> => provider.token({ format: 'opaque', ...request })

  it('are introspected; they have the same subject and scopes as its JWTs', async () => {
    expect((await register(await opaque(), 'of-opaque')).status).toBe(201)
    expect((await directory.delete('/agents/of-opaque', { key: await provider.token() })).status).toBe(204)
    expectError(await register(await opaque({ scope: 'discover' }), 'never'), { status: 403 })
  })

  it('are introspected once for many requests', async () => {
    const key = await opaque()
    const before = provider.requests.get('/token/introspection') ?? 0
    await Promise.all(Array.from({ length: 20 }, () => read(key)))
    expect(provider.requests.get('/token/introspection')).toBe(before + 1)
  })

  it('are rejected once they are revoked and the response for them is no longer cached', async () => {
    const key = await opaque()
    expect((await read(key)).status).toBe(200)
    await provider.revoke(key)
    advance(1001)
    const answer = await read(key)
    expectError(answer, { status: 401, says: /revoked/ })
    expect(answer.headers.get('www-authenticate')).toMatch(/error="invalid_token"/)
  })

  it('are rejected after they have expired, even if the response for them is cached', async () => {
    const key = await opaque({ lifetime: 1 })
    await read(key)
    advance(1000)
    expectError(await read(key), { status: 401 })
  })

  it('are rejected if meant for another audience', async () => {
    expectError(await read(await opaque({ audience: 'https://elsewhere.example' })), { status: 401, says: /claim aud/ })
  })

  it('are rejected if the provider does not know them', async () => {
    expectError(await read('no-such-token'), { status: 401, says: /not active/ })
  })

  it('get 503 with a reason while the provider is down', async () => {
    const key = await opaque()
    provider.available = false
    const answer = await read(key)
    expectError(answer, { status: 503, code: 'unavailable', says: /issuer does not say/ })
    expect(answer.headers.get('retry-after')).toBe('5')
    provider.available = true
    expect((await read(key)).status).toBe(200)
  })

  it('never replace API keys: unknown keys of the directory are not sent to the provider', async () => {
    const before = provider.requests.get('/token/introspection')
    expectError(await read('sb_no-such-key'), { status: 401, says: /API key/ })
    expect((await directory.get('/admin/keys', { as: 'admin' })).status).toBe(200)
    expect(provider.requests.get('/token/introspection')).toBe(before)
  })
})
