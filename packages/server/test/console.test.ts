import { brotliDecompressSync } from 'node:zlib'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer } from '../src/app.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { temporaryFolder } from './support/process.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())

describe('the console', () => {
  it.each(['/', '/console', '/console/agents/translator', '/console/operate/keys'])(
    'is the page at %s',
    async (path) => {
      const { status, headers, text } = await directory.get(path, { as: 'anon' })
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(text).toContain('<div id="root">')
    },
  )

  it('has a policy that allows its own files, and nothing inline but what has the nonce of the response', async () => {
    const [first, second] = [await directory.get('/'), await directory.get('/')]
    const policy = first.headers.get('content-security-policy') ?? ''
    const [, nonce = ''] = /script-src 'self' 'nonce-([^']+)'/.exec(policy) ?? []
    expect(policy).toMatch(/^default-src 'none';/)
    expect(policy).not.toContain('unsafe')
    expect(first.text).toContain(`nonce="${nonce}"`)
    expect(second.text).not.toContain(nonce)
    expect(first.headers.get('cache-control')).toBe('no-store')
  })

  it('loads nothing from elsewhere', async () => {
    const { text } = await directory.get('/')
    const addresses = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address)
    expect(addresses.length).toBeGreaterThan(2)
    for (const address of addresses) expect(address).toMatch(/^\/(console|docs|\.well-known)/)
  })

  it('sends compressed files, which browsers may keep for ever', async () => {
    const { text } = await directory.get('/')
    const [script = ''] = /\/console\/assets\/[^"]+\.js/.exec(text) ?? []
    // Not fetch, which decompresses.
    const packed = await request(directory.url + script, { headers: { 'accept-encoding': 'gzip, br' } })
    const plain = await request(directory.url + script)
    expect(packed.headers).toMatchObject({
      'content-encoding': 'br',
      'content-type': 'application/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: expect.stringContaining('Accept-Encoding'),
    })
    expect(plain.headers).not.toHaveProperty('content-encoding')
    const bytes = Buffer.from(await packed.body.arrayBuffer())
    expect(brotliDecompressSync(bytes).equals(Buffer.from(await plain.body.arrayBuffer()))).toBe(true)
  })

  it.each([
    '/console/assets/nothing.js',
    '/console/assets/..%2Findex.html',
    '/console/assets/%2e%2e%2f%2e%2e%2fapp.js',
  ])('answers %s with 404 as the API does', async (path) => {
    const { status, json } = await directory.get(path)
    expect(status).toBe(404)
    expect(json).toMatchObject({ code: 'not_found' })
  })

  it('has addresses below the path of the public URL', async () => {
    const folder = temporaryFolder()
    const server = await createServer({ data: folder.path, publicUrl: 'https://example.com/us/', logLevel: 'silent' })
    try {
      const { body } = await server.app.inject('/')
      expect(body).toContain('src="/us/console/assets/console-')
      expect(body).toContain('<meta name="switchboard-base" content="/us/">')
    } finally {
      await server.close()
      folder.remove()
    }
  })

  it('can be switched off', async () => {
    await directory.restart({ console: { enabled: false } })
    expect((await directory.get('/')).status).toBe(404)
    expect((await directory.get('/console')).status).toBe(404)
  })
})
