import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { list, register } from './requests.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const read = (headers: Record<string, string> = {}, path = '/agents/x') => directory.get(path, { headers })

describe('GET /agents/{id}', () => {
  it('AIDIP-4.3.3-02 returns 404 for an unknown id', async () => {
    const { status, json } = await directory.get('/agents/unknown')
    expect(status).toBe(404)
    expect(json.error).toMatchObject({ code: 'NotFound', message: expect.stringContaining('unknown') })
  })

  it('AIDIP-4.3.3-03 C-31 accepts an id with reserved characters as one path segment', async () => {
    await directory.post('/discover/agents', { as: 'tokA', body: fixture('FX-HR') })
    const { status, json } = await directory.get('/agents/https%3A%2F%2Fagents.example.net%2Fid%2Fhr-core-automator')
    expect(status).toBe(200)
    expect(json.id).toBe('https://agents.example.net/id/hr-core-automator')
    expect((await directory.get('/agents/https://agents.example.net/id/hr-core-automator')).status).toBe(404)
  })

  it.each(['a/b', '/', 'a/', 'a?b#c', 'a b', 'a+b', '100%', 'ünï/ço∂é', 'a;b=c,d', 'a\\b', '%2F', 'a/../b', '::'])(
    'C-31 finds %j',
    async (id) => {
      const made = await register(directory, aidipAgent({ id }))
      const path = `/agents/${encodeURIComponent(id)}`
      expect(made.headers.get('location')).toBe(path)
      expect((await directory.get(path)).json.id).toBe(id)
      expect(await list(directory, `id=${encodeURIComponent(id)}`)).toEqual([id])
      expect((await directory.put(path, { as: 'tokA', body: aidipAgent() })).status).toBe(200)
      expect((await directory.delete(path, { as: 'tokA' })).status).toBe(204)
    },
  )

  it('C-31 decodes percent-encoding only once', async () => {
    await register(directory, aidipAgent({ id: 'a/b' }))
    await register(directory, aidipAgent({ id: 'a%2Fb', name: 'Literal' }))
    expect((await directory.get('/agents/a%2Fb')).json.id).toBe('a/b')
    expect((await directory.get('/agents/a%252Fb')).json).toMatchObject({ id: 'a%2Fb', name: 'Literal' })
    await directory.delete('/agents/a%252Fb', { as: 'tokA' })
    expect((await directory.get('/agents/a%252Fb')).status).toBe(404)
    expect((await directory.get('/agents/a%2Fb')).status).toBe(200)
  })

  it.each(['/agents/%', '/agents/%zz', '/agents/%ff', '/agents/a%c3'])(
    'rejects %s, which is not valid UTF-8',
    async (path) => {
      expect((await directory.get(path)).status).toBe(400)
    },
  )

  it('C-04 does not treat search and public as ids', async () => {
    expect((await directory.get('/agents/public')).json).toHaveProperty('agents')
    for (const path of ['/agents/search', '/agents/public']) {
      const { status, headers } = await directory.put(path, { as: 'tokA', body: aidipAgent() })
      expect(status).toBe(405)
      expect(headers.get('allow')).toMatch(/^(GET|POST)/)
      expect((await directory.delete(path, { as: 'tokA' })).status).toBe(405)
    }
  })

  it('C-69 returns JSON whatever Accept says', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    for (const path of ['/agents/x', '/agents', '/v0/agents']) {
      const { status, headers } = await read({ accept: 'text/html' }, path)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toMatch(/^application\/json/)
    }
  })

  it('hides private parts from other callers and marks the document as redacted', async () => {
    const operations = [
      { name: 'open', inputs: {}, outputs: {} },
      { name: 'closed', inputs: {}, outputs: {}, private: true },
    ]
    await register(directory, aidipAgent({ id: 'x', operations, notes: 'quokka', private: ['notes'] }))
    const stranger = await directory.get('/agents/x', { as: 'tokB' })
    expect(stranger.text).not.toMatch(/quokka|closed|"private"/)
    expect(stranger.json.redacted).toBe(true)
    const full = await directory.get('/agents?include_metadata=true', { as: 'tokB' })
    expect(full.text).not.toMatch(/quokka|closed|"private"/)
    expect((await directory.get('/agents/x', { as: 'tokA' })).json).toMatchObject({ notes: 'quokka', operations })
  })
})

describe('conditional requests for one agent', () => {
  it('AIDIP00-4-14 ETag: If-None-Match returns 304 until the agent changes', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    const first = await read()
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[^"]+"$/)
    expect(first.headers.get('last-modified')).toMatch(/ GMT$/)
    expect(first.headers.get('cache-control')).toBe('no-cache')
    expect(first.headers.get('vary')).toMatch(/Authorization/)
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await read({ 'if-none-match': known })
      expect(again.status).toBe(304)
      expect(again.text).toBe('')
      expect(again.headers.get('etag')).toBe(tag)
    }
    expect((await read({ 'if-none-match': '"other"' })).status).toBe(200)
    await directory.put('/agents/x', { as: 'tokA', body: aidipAgent({ version: '2' }) })
    const changed = await read({ 'if-none-match': tag })
    expect(changed.status).toBe(200)
    expect(changed.json.version).toBe('2')
    expect(changed.headers.get('etag')).not.toBe(tag)
  })

  it('AIDIP00-4-14 Last-Modified: If-Modified-Since returns 304 until the agent changes, even within the same second', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    for (let version = 2; version < 5; version++) {
      const since = { 'if-modified-since': (await read()).headers.get('last-modified') ?? '' }
      if (version === 2) expect((await read(since)).status).toBe(304)
      await directory.put('/agents/x', { as: 'tokA', body: aidipAgent({ version: `${version}` }) })
      const changed = await read(since)
      expect(changed.status).toBe(200)
      expect(changed.json.version).toBe(`${version}`)
    }
    const { headers } = await read()
    expect(Date.parse(headers.get('last-modified') ?? '')).toBeLessThanOrEqual(Date.parse(headers.get('date') ?? ''))
  })

  it('AIDIP00-4-14 If-Modified-Since is ignored if there is an If-None-Match or it is not a date', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    const later = new Date(Date.now() + 3_600_000).toUTCString()
    expect((await read({ 'if-none-match': '"other"', 'if-modified-since': later })).status).toBe(200)
    expect((await read({ 'if-modified-since': 'soon' })).status).toBe(200)
    expect((await read({ 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).status).toBe(200)
  })

  it('C-22 Last-Modified is the server’s time; the publisher’s timestamps stay in the document', async () => {
    const claims = { last_update: '2020-01-01', updated_at: '2020-01-01T00:00:00Z' }
    await register(directory, aidipAgent({ id: 'x', ...claims }))
    for (const path of ['/agents/x', '/v0/agents/x']) {
      const { headers, json } = await read({}, path)
      expect(json).toMatchObject(claims)
      expect(Math.abs(Date.parse(headers.get('last-modified') ?? '') - Date.now())).toBeLessThan(5000)
    }
  })

  it('each view, and each level of access, has its own ETag', async () => {
    await register(directory, aidipAgent({ id: 'x', authentication: 'None', notes: 'quokka', private: ['notes'] }))
    const card = { accept: 'application/agent-card+json' }
    const answers = await Promise.all([
      directory.get('/agents/x'),
      directory.get('/agents/x', { as: 'tokA' }),
      directory.get('/v0/agents/x'),
      directory.get('/agents/x', { headers: { accept: 'application/json; profile="aidip-00"' } }),
    ])
    const [open, own, v0, profile] = answers.map(({ headers }) => headers.get('etag'))
    expect(new Set([open, own, v0]).size).toBe(3)
    expect(profile).toBe(v0)
    expect((await directory.get('/agents/x', { as: 'tokA', headers: { 'if-none-match': open ?? '' } })).status).toBe(
      200,
    )
    expect((await read(card)).headers.get('etag')).toBe(open)
  })

  it('the operator’s marks change the ETag', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    const tag = (await read()).headers.get('etag') ?? ''
    await directory.patch('/admin/agents/x', { as: 'admin', body: { verification: 'verified' } })
    expect((await read({ 'if-none-match': tag })).status).toBe(200)
  })

  it('a name that is registered again gets a new ETag', async () => {
    await register(directory, aidipAgent({ id: 'x', version: 'first' }))
    const tag = (await read()).headers.get('etag') ?? ''
    await directory.delete('/agents/x', { as: 'tokA' })
    await register(directory, aidipAgent({ id: 'x', version: 'second' }))
    expect((await read({ 'if-none-match': tag })).json?.version).toBe('second')
    const headers = { 'if-match': tag }
    expect((await directory.put('/agents/x', { as: 'tokA', headers, body: aidipAgent() })).status).toBe(412)
  })

  it('errors carry no validators', async () => {
    const { status, headers } = await read({ 'if-none-match': '*' }, '/agents/nope')
    expect(status).toBe(404)
    expect(headers.get('etag')).toBeNull()
    expect(headers.get('last-modified')).toBeNull()
    expect(headers.get('cache-control')).toBe('no-store')
  })
})

describe('conditional requests for lists', () => {
  const paths = ['/agents', '/v0/agents?tags=a', '/agents/public']

  it('ETag: 304 until something visible to the caller changes', async () => {
    await register(directory, aidipAgent({ id: 'x', tags: ['a'] }))
    for (const path of paths) {
      const tag = (await read({}, path)).headers.get('etag') ?? ''
      const again = await read({ 'if-none-match': tag }, path)
      expect(again.status).toBe(304)
      expect(again.text).toBe('')
      await register(directory, aidipAgent({ tags: ['a'] }))
      const changed = await read({ 'if-none-match': tag }, path)
      expect(changed.status).toBe(200)
      expect(changed.headers.get('etag')).not.toBe(tag)
    }
  })

  it('ETag: stays the same while nothing changes, even after the server reads its own change log', async () => {
    await register(directory, aidipAgent({ id: 'x', visibility: 'private' }))
    const body = { subject: 'tokC', agent: 'x', scopes: ['discover'] }
    await directory.post('/admin/grants', { as: 'admin', body })
    const tag = (await directory.get('/agents', { as: 'tokC' })).headers.get('etag') ?? ''
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect((await directory.get('/agents', { as: 'tokC', headers: { 'if-none-match': tag } })).status).toBe(304)
  })

  it('ETag: does not match for another caller', async () => {
    await register(directory, aidipAgent({ id: 'x', visibility: 'private' }))
    const tag = (await directory.get('/agents')).headers.get('etag') ?? ''
    const own = await directory.get('/agents', { as: 'tokA', headers: { 'if-none-match': tag } })
    expect(own.status).toBe(200)
    expect(own.json).toHaveLength(1)
  })

  it('ETag and Last-Modified: creating or deleting a grant changes the list', async () => {
    await register(directory, aidipAgent({ id: 'x', visibility: 'private' }))
    const before = await directory.get('/agents', { as: 'tokC' })
    expect(before.json).toEqual([])
    const grant = { subject: 'tokC', agent: 'x', scopes: ['discover'] }
    const { json } = await directory.post('/admin/grants', { as: 'admin', body: grant })
    for (const headers of [
      { 'if-none-match': before.headers.get('etag') ?? '' },
      { 'if-modified-since': before.headers.get('last-modified') ?? '' },
    ]) {
      expect((await directory.get('/agents', { as: 'tokC', headers })).json).toHaveLength(1)
    }
    const with1 = await directory.get('/agents', { as: 'tokC' })
    await directory.delete(`/admin/grants/${json.id}`, { as: 'admin' })
    const since = { 'if-modified-since': with1.headers.get('last-modified') ?? '' }
    expect((await directory.get('/agents', { as: 'tokC', headers: since })).json).toEqual([])
  })

  it('Last-Modified: a date alone never hides a change, even within the same second', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    const { headers } = await read({}, '/agents')
    const since = { 'if-modified-since': headers.get('last-modified') ?? '' }
    expect(Date.parse(headers.get('last-modified') ?? '')).toBeLessThanOrEqual(Date.parse(headers.get('date') ?? ''))
    await register(directory, aidipAgent({ id: 'y' }))
    expect((await read(since, '/agents')).json).toHaveLength(2)
    await directory.delete('/agents/x', { as: 'tokA' })
    expect((await read(since, '/agents')).json).toHaveLength(1)
  })
})

describe('HEAD', () => {
  it('returns the headers of GET without the body', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    for (const path of ['/agents/x', '/agents', '/agents/public', '/v0/agents?top=1', '/agents/nope']) {
      const [head, get] = [await directory.head(path), await directory.get(path)]
      expect(head.status).toBe(get.status)
      expect(head.text).toBe('')
      for (const name of ['content-type', 'content-length', 'etag', 'last-modified', 'x-total-count', 'link']) {
        if (name === 'content-length' && get.status === 404) continue // the body has a request id, whose length may differ
        expect([path, name, head.headers.get(name)]).toEqual([path, name, get.headers.get(name)])
      }
    }
  })

  it('supports conditional requests and checks access, like GET', async () => {
    await register(directory, aidipAgent({ id: 'x', visibility: 'private' }))
    expect((await directory.head('/agents/x')).status).toBe(404)
    const own = await directory.head('/agents/x', { as: 'tokA' })
    expect(own.status).toBe(200)
    const headers = { 'if-none-match': own.headers.get('etag') ?? '' }
    expect((await directory.head('/agents/x', { as: 'tokA', headers })).status).toBe(304)
    expect((await directory.head('/agents/search')).status).toBe(405)
  })
})
