import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestCaller, type TestDirectory } from './support/directory.js'
import { aidipAgent } from './support/documents.js'

const FRIEND = 'https://console.example'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({ cors: { origins: [FRIEND] } })
  for (const id of ['a', 'b', 'c'])
    await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id, tags: ['x'.repeat(5000)] }) })
})
afterAll(() => directory.close())

describe('Vary', () => {
  const origins = [undefined, FRIEND, 'https://stranger.example']
  const paths = ['/agents', '/agents/a', '/ad/l', '/.well-known/agents.json', '/agents/a/agent.json', '/agents/none']

  it.each(paths)('of %s names Origin, from whatever origin it is requested', async (path) => {
    for (const origin of origins) {
      const { headers } = await directory.get(path, { ...(origin !== undefined && { headers: { origin } }) })
      const names = (headers.get('vary') ?? '').split(', ')
      expect(names, String(origin)).toContain('Origin')
      expect(new Set(names).size).toBe(names.length)
      if (path !== '/agents/none')
        expect(names).toEqual(expect.arrayContaining(['Authorization', 'X-API-Key', 'Accept']))
      const allowed = origin === undefined ? null : origin === FRIEND ? FRIEND : '*'
      expect(headers.get('access-control-allow-origin')).toBe(allowed)
    }
  })
})

describe('Link', () => {
  const next = (headers: Headers): string => /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? ''

  it('leads from page to page', async () => {
    for (const first of ['/agents?top=1&publisher=none,at%20all&publisher=', '/agents?top=1', '/ad/l?count=1']) {
      const ids: string[] = []
      for (let path = first; path !== ''; ) {
        const { json, headers } = await directory.get(path)
        const items: { id?: string; agent?: string }[] = Array.isArray(json) ? json : json.agents
        ids.push(...items.map(({ id, agent }) => id ?? agent ?? ''))
        path = next(headers)
      }
      expect(ids).toEqual(first.includes('publisher') ? [] : ['a', 'b', 'c'])
    }
  })

  it('does not repeat a query that is too long for a header, and a warning says so', async () => {
    const tag = 'x'.repeat(5000)
    for (const path of [`/agents?top=1&tags=${tag}`, `/ad/l?count=1&tag=${tag}`]) {
      const { status, headers, text } = await directory.get(path)
      expect(status).toBe(200)
      expect(text).toContain('"a"')
      expect(headers.get('link')).toBeNull()
      expect(headers.get('x-switchboard-warnings')).toMatch(/too long for a link to the next page/)
    }
    const { json } = await directory.get(`/agents?top=1&shape=object&tags=${tag}`)
    expect((await directory.get(json.next)).json.agents).toMatchObject([{ id: 'b' }])
  })
})

describe('Cache-Control', () => {
  it('is no-store on every response below /admin', async () => {
    const grant = { subject: 'tokC', agent: 'a', scopes: ['discover'] }
    const responses = [
      ...['/keys', '/grants', '/audit', '/nothing'].map((path) => directory.get(`/admin${path}`, { as: 'admin' })),
      directory.post('/admin/keys', { as: 'admin', body: { subject: 's', scopes: ['discover'] } }),
      directory.post('/admin/grants', { as: 'admin', body: grant }),
      directory.post('/admin/grants', { as: 'admin', body: {} }),
      directory.patch('/admin/agents/a', { as: 'admin', body: { unsafe: null } }),
      directory.delete('/admin/keys/none', { as: 'admin' }),
      directory.post('/admin/import', { as: 'admin', raw: '{}' }),
      directory.put('/admin/keys', { as: 'admin' }),
      ...(['anon', 'tokC'] satisfies TestCaller[]).map((as) => directory.get('/admin/keys', { as })),
    ]
    const { id } = (await directory.post('/admin/keys', { as: 'admin', body: { subject: 's', scopes: ['discover'] } }))
      .json
    responses.push(directory.delete(`/admin/keys/${id}`, { as: 'admin' }))
    for (const { status, headers } of await Promise.all(responses))
      expect(headers.get('cache-control'), String(status)).toBe('no-store')
  })
})
