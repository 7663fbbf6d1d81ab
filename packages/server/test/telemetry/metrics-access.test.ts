import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'

const TOKEN = 'token-of-the-prometheus-server'

let direct: TestDirectory
let proxied: TestDirectory
beforeAll(async () => {
  direct = await startDirectory()
  proxied = await startDirectory({ behindProxy: true, metricsToken: TOKEN })
})
afterAll(async () => {
  await direct.close()
  await proxied.close()
})

/** The status of GET /metrics; unlike fetch, this can set the Host header. */
const statusOf = ({ url }: TestDirectory, headers: Record<string, string>, path = '/metrics'): Promise<number> =>
  new Promise((resolve, reject) => {
    request(url + path, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
const HTTPS = { 'x-forwarded-proto': 'https' }

describe('who may read the metrics', () => {
  it('programs on the same machine, without credentials', async () => {
    const { status, headers } = await direct.get('/metrics')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it.each([
    ['x-forwarded-for', '203.0.113.9'],
    ['x-forwarded-for', '127.0.0.1'],
    ['forwarded', 'for=203.0.113.9'],
    ['x-real-ip', '203.0.113.9'],
    ['via', '1.1 proxy'],
  ])('not a stranger who comes through a proxy that the operator did not mention (%s: %s)', async (name, value) => {
    expect(await statusOf(direct, { [name]: value })).toBe(401)
  })

  it('not a page whose name was made to resolve to this machine', async () => {
    expect(await statusOf(direct, { host: 'attacker.example' })).toBe(401)
    expect(await statusOf(direct, { host: 'localhost:8040' })).toBe(200)
  })

  it('behind a proxy, nobody without credentials: the address is that of the proxy', async () => {
    for (const headers of [HTTPS, { ...HTTPS, 'x-forwarded-for': '127.0.0.1' }])
      expect(await statusOf(proxied, headers)).toBe(401)
    expect(await statusOf(proxied, {})).toBe(403)
  })

  it('administrators, but no other callers', async () => {
    expect(await statusOf(proxied, { ...HTTPS, ...bearer(proxied.adminKey) })).toBe(200)
    const response = await fetch(`${proxied.url}/admin/keys`, {
      method: 'POST',
      headers: { ...HTTPS, ...bearer(proxied.adminKey), 'content-type': 'application/json' },
      body: JSON.stringify({ subject: 'alice', scopes: ['publish', 'discover', 'invoke'] }),
    })
    const { key } = JSON.parse(await response.text())
    expect(await statusOf(proxied, { ...HTTPS, ...bearer(key) })).toBe(403)
  })

  it('Prometheus with its token, directly and over plain HTTP; the token opens nothing else', async () => {
    expect(await statusOf(proxied, bearer(TOKEN))).toBe(200)
    expect(await statusOf(proxied, bearer(`${TOKEN}x`))).toBe(403)
    expect(await statusOf(proxied, { ...HTTPS, ...bearer(`${TOKEN}x`) })).toBe(401)
    for (const path of ['/agents', '/admin/keys', '/limits'])
      expect(await statusOf(proxied, { ...HTTPS, ...bearer(TOKEN) }, path), path).toBe(401)
  })
})
