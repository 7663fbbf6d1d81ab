import { describe, expect, it } from 'vitest'
import type { TestResponse } from '../support/directory.js'
import { expectError } from '../support/errors.js'
import type { Reply } from './agent.js'
import { setUp } from './setup.js'

const setup = setUp()
const INPUT = { text: 'hello' }

/** Headers that would act on the caller as if the directory had sent them, or describe the agent's host. */
const HOSTILE: Record<string, string> = {
  'access-control-allow-credentials': 'true',
  'access-control-allow-origin': 'https://evil.example',
  'access-control-expose-headers': '*',
  age: '1',
  'alt-svc': 'h3="evil.example:443"',
  'authentication-info': 'nextnonce="x"',
  'cache-control': 'public, max-age=31536000',
  'clear-site-data': '"*"',
  'content-location': 'https://evil.example/',
  'content-security-policy': "script-src 'unsafe-inline'",
  'cross-origin-opener-policy': 'unsafe-none',
  etag: '"evil"',
  expires: 'Fri, 31 Dec 2100 00:00:00 GMT',
  'last-modified': 'Fri, 31 Dec 2010 00:00:00 GMT',
  link: '<https://evil.example/a.js>; rel=preload',
  location: 'https://evil.example/login',
  nel: '{}',
  p3p: 'CP="x"',
  'permissions-policy': 'camera=*',
  'proxy-authenticate': 'Basic realm="evil"',
  'public-key-pins': 'x',
  'referrer-policy': 'unsafe-url',
  refresh: '0; url=https://evil.example/',
  'report-to': '{}',
  server: 'secret/1.0',
  'server-timing': 'db;dur=53',
  'service-worker-allowed': '/',
  'set-cookie': 'session=evil',
  'signature-input': 'sig=()',
  signature: 'sig=:AAAA:',
  sourcemap: 'https://evil.example/map',
  'strict-transport-security': 'max-age=0',
  'timing-allow-origin': '*',
  vary: '*',
  via: '1.1 inside',
  'www-authenticate': 'Basic realm="Switchboard", Bearer resource_metadata="https://evil.example/"',
  'x-accel-redirect': '/etc/passwd',
  'x-content-type-options': 'none',
  'x-frame-options': 'ALLOWALL',
  'x-output-valid': 'true',
  'x-powered-by': 'secret',
  'x-request-id': 'forged',
  'x-switchboard-warnings': '"forged"',
}

const replying =
  (status: number, type: string, body: string, headers: Record<string, string>): Reply =>
  (_, response) =>
    response.writeHead(status, { ...headers, 'content-type': type }).end(body)

/** Everything but what differs between any two responses. */
const headersOf = ({ headers }: TestResponse): Record<string, string> =>
  Object.fromEntries(
    [...headers].filter(([name]) => !/^(date|x-request-id|x-directory-revision|ratelimit)$/.test(name)),
  )

describe('headers of an agent', () => {
  it.each([
    [200, 'application/json', '{"text":"a"}'],
    [200, 'text/event-stream', 'data: 1\n\n'],
    [200, 'image/png', 'bytes'],
    [201, 'application/json', '{"text":"a"}'],
    [401, 'application/json', '{"error":{"code":"Unauthorized","message":"no"}}'],
    [404, 'text/html', '<h1>none</h1>'],
    [429, 'application/json', '{}'],
    [500, 'application/json', '{}'],
  ])('do not reach the caller unless they are known to be harmless: %i %s', async (status, type, body) => {
    await setup.register({ outputFormats: ['application/json', 'image/png'] })
    setup.agent.reply = replying(status, type, body, {})
    const expected = await setup.call(INPUT)
    expect(expected.status).toBe(status)
    setup.agent.reply = replying(status, type, body, HOSTILE)
    expect(headersOf(await setup.call(INPUT))).toEqual(headersOf(expected))
  })

  it('C-97 ask for the agent’s credential in the directory’s own words', async () => {
    await setup.register()
    setup.agent.reply = replying(401, 'application/json', '{}', HOSTILE)
    const rejected = await setup.call(INPUT, { headers: { 'x-agent-authorization': 'Bearer wrong' } })
    expectError(rejected, { status: 401, code: 'unauthorized', says: /the agent/ })
    expect(rejected.headers.get('www-authenticate')).toBe('Bearer realm="agent"')
    await setup.register({ id: 'y', authentication: { type: 'api_key' } })
    const key = await setup.call(INPUT, { path: '/agents/y/invoke', headers: { 'x-api-key': 'wrong' } })
    expect([key.status, key.headers.get('www-authenticate')]).toEqual([401, 'ApiKey realm="agent"'])
  })

  it.each([401, 403, 407])(
    'C-97 do not reach the caller if the agent rejects the directory’s credential: %i',
    async (status) => {
      await setup.register()
      const body = { type: 'bearer', token: 'of-the-directory' }
      await setup.directory.put('/admin/agents/x/credential', { as: 'admin', body })
      setup.agent.reply = replying(status, 'application/json', '{}', HOSTILE)
      const rejected = await setup.call(INPUT)
      expectError(rejected, { status: 502, code: 'agent_error', says: /credential of this directory/ })
      expect(rejected.headers.has('www-authenticate')).toBe(false)
    },
  )

  it('AIDIP-5.2-12 cannot make the caller wait for years', async () => {
    await setup.register()
    setup.agent.reply = replying(503, 'application/json', '{}', { 'retry-after': '999999999' })
    expect((await setup.call(INPUT)).headers.get('retry-after')).toBe('86400')
  })
})
