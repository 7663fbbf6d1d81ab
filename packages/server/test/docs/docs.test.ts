import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type Server } from '../../src/app.js'
import { temporaryFolder } from '../support/process.js'

const folder = temporaryFolder()
let server: Server
let url: string
beforeAll(async () => {
  server = await createServer({ port: 0, data: folder.path, logLevel: 'silent', search: { embedder: 'none' } })
  url = await server.listen()
})
afterAll(async () => {
  await server.close()
  folder.remove()
})

/** The response as it is sent: `fetch` would decompress it. */
const get = (path: string, headers: Record<string, string> = {}) =>
  server.app.inject({ method: 'GET', url: path, headers })

const assetIn = (html: string, extension: string): string => {
  const [, path = ''] = new RegExp(`(assets/[\\w-]+\\.${extension})"`).exec(html) ?? []
  return `/docs/${path}`
}

describe('the documentation at /docs', () => {
  it('is a page with a navigation, and with no script or style inside', async () => {
    const response = await fetch(`${url}/docs`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).not.toContain('unsafe')
    const page = await response.text()
    expect(page).toContain('<a href="docs/publishing">Publish an agent</a>')
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/)
  })

  it('has no external resource on any page', async () => {
    for (const path of ['/docs', '/docs/running', '/docs/reference/errors', '/docs/api']) {
      const { body } = await get(path)
      const resources = Array.from(body.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g), ([, to]) => to)
      expect(resources.length).toBeGreaterThan(1)
      expect(resources.filter((to) => /^(?:https?:)?\/\//.test(to ?? ''))).toEqual([])
    }
  })

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('sends copies that were compressed ahead: %s', async (encoding, decompress) => {
    const plain = await get('/docs/running')
    const packed = await get('/docs/running', { 'accept-encoding': encoding })
    expect(packed.headers).toMatchObject({ 'content-encoding': encoding, vary: 'Origin, Accept-Encoding' })
    expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
    expect(decompress(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
  })

  it('lets browsers keep files with a digest in their name, and revalidate pages', async () => {
    const page = await get('/docs/finding')
    expect(page.headers['cache-control']).toBe('no-cache')
    const again = await get('/docs/finding', { 'if-none-match': String(page.headers.etag) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    for (const extension of ['css', 'js', 'json']) {
      const asset = await get(assetIn(page.body, extension))
      expect([extension, asset.statusCode]).toEqual([extension, 200])
      expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    }
  })

  it('redirects from an address with a slash, where relative links would lead elsewhere', async () => {
    for (const path of ['/docs', '/docs/running', '/docs/reference/errors']) {
      const { statusCode, headers } = await get(`${path}/`)
      expect(statusCode).toBe(308)
      expect(new URL(String(headers.location), `${url}${path}/`).pathname).toBe(path)
    }
  })

  it('answers 404 for pages that do not exist, and for paths that lead out of its folder', async () => {
    const paths = ['nothing', 'assets/nothing.js', '..%2fapp', '%2e%2e/app.js', '../app.js', 'version', '.x', 'a//b']
    for (const path of paths) expect([path, (await get(`/docs/${path}`)).statusCode]).toEqual([path, 404])
  })

  it('has the reference of the API, with the viewer loaded on that page only', async () => {
    const reference = await get('/docs/api')
    expect(reference.body).toContain('swagger-ui')
    expect((await get('/docs')).body).not.toContain('swagger-ui')
    const viewer = await get(`/docs/${/assets\/swagger-ui-[\w-]+\.js/.exec(reference.body)?.[0]}`, {
      'accept-encoding': 'br',
    })
    expect(viewer.statusCode).toBe(200)
    expect(viewer.rawPayload.length).toBeLessThan(500_000)
  })

  it('has the schema of the config file, for editors', async () => {
    const { headers, body } = await get('/docs/config.schema.json')
    expect(headers['content-type']).toMatch(/^application\/json/)
    expect(JSON.parse(body)).toMatchObject({ additionalProperties: false, properties: { port: { default: 8040 } } })
  })

  it('says what to do about an error to browsers that open its type', async () => {
    const { statusCode, headers } = await get('/problems/rate-limited', { accept: 'text/html,*/*;q=0.8' })
    expect(statusCode).toBe(303)
    const page = new URL(String(headers.location), `${url}/problems/rate-limited`)
    expect([page.pathname, page.hash]).toEqual(['/docs/reference/errors', '#rate_limited'])
    expect((await get(page.pathname)).body).toContain('id="rate_limited"')
    expect((await get('/problems/rate-limited')).json()).toMatchObject({ status: 429 })
  })

  it('answers HEAD like GET, without a body', async () => {
    const response = await fetch(`${url}/docs/running`, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(10_000)
  })
})
