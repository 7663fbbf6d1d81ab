import { type JsonObject, validateDocument } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { list, register, withoutRegistryMembers } from './requests.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

describe('a new agent', () => {
  it('AIDIP-4.2-01 AIDIP-4.2-02 returns 201, the stored metadata and an id', async () => {
    const { status, json, headers } = await directory.post('/agents', { as: 'tokA', body: aidipAgent() })
    expect(status).toBe(201)
    expect(json).toMatchObject(aidipAgent())
    expect(json.id).toMatch(/\S/)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(headers.get('location')).toBe(`/agents/${json.id}`)
    expect((await directory.get(`/agents/${json.id}`)).json).toEqual(json)
  })

  it('AIDIP-3.1-01 gets a unique id from the registry', async () => {
    const first = await register(directory, aidipAgent())
    const second = await register(directory, aidipAgent())
    expect(first.json.id).not.toBe(second.json.id)
    expect(await list(directory)).toHaveLength(2)
  })

  it('AIDIP-3.1-03 keeps the id that the provider chose', async () => {
    const { json } = await register(directory, fixture('FX-T01'))
    expect(json.id).toBe('agent-12345')
  })

  it('AIDIP-3.1-04 may have the same name as another', async () => {
    await register(directory, aidipAgent({ id: 'one', name: 'Twin' }))
    await register(directory, aidipAgent({ id: 'two', name: 'Twin' }))
    expect(await list(directory, 'name=Twin')).toEqual(['one', 'two'])
  })

  it('AIDIP-3.3-01 AIDIP-3-02 AIDIP-4.3.3-01 is returned as it was sent', async () => {
    await register(directory, fixture('FX-T01'))
    const answer = await directory.get('/agents/agent-12345')
    expect(answer.status).toBe(200)
    expect(withoutRegistryMembers(answer)).toEqual(fixture('FX-T01'))
    expect(answer.json.operations[0].inputs.required).toEqual(['text', 'source_language', 'target_language'])
  })

  it('AIDIP-3.1-02 is read, updated and removed by its id', async () => {
    const { json } = await register(directory, aidipAgent())
    const path = `/agents/${json.id}`
    expect((await directory.get(path)).json.id).toBe(json.id)
    expect((await directory.put(path, { as: 'tokA', body: aidipAgent({ version: '2' }) })).json.id).toBe(json.id)
    expect((await directory.delete(path, { as: 'tokA' })).status).toBe(204)
    expect((await directory.get(path)).status).toBe(404)
  })

  it('AIDIP-1-02 AIDIP-4-01 can be found among those of other publishers and platforms', async () => {
    const hosts = ['https://python.example.org/run', 'https://java.example.com:8443/rpc', 'wss://edge.example.net/a']
    for (let i = 0; i < 25; i++) {
      const as = (['tokA', 'tokB', 'admin'] as const)[i % 3]
      await register(directory, aidipAgent({ id: `agent-${i}`, endpoint: hosts[i % 3] ?? '', tags: ['fleet'] }), as)
    }
    const found = await directory.post('/agents/search', { body: { filters: { tags: ['fleet'] }, top: 50 } })
    expect(found.json).toHaveLength(25)
    expect(new Set(found.json.map(({ endpoint }: JsonObject) => endpoint))).toEqual(new Set(hosts))
  })
})

describe('an existing agent', () => {
  it('AIDIP-4.2-03 is updated by its owner: 200 and the stored metadata', async () => {
    await register(directory, fixture('FX-T01'))
    const again = await directory.post('/agents', { as: 'tokA', body: fixture('FX-T01', { version: '1.3.0' }) })
    expect(again.status).toBe(200)
    expect(again.json.version).toBe('1.3.0')
    expect((await directory.get('/agents/agent-12345')).json.version).toBe('1.3.0')
    expect(await list(directory)).toEqual(['agent-12345'])
  })

  it('C-34 is replaced entirely: members that are not sent again are gone', async () => {
    await register(directory, aidipAgent({ id: 'x', pricing: { per_call: 1 }, tags: ['old'] }))
    await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'x' }) })
    const { json } = await directory.get('/agents/x')
    expect(json).not.toHaveProperty('pricing')
    expect(json).not.toHaveProperty('tags')
    expect(await list(directory, 'tags=old')).toEqual([])
  })

  it('C-34 keeps its position in the list', async () => {
    for (const id of ['a', 'b', 'c']) await register(directory, aidipAgent({ id }))
    await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'a', version: '2' }) })
    expect(await list(directory)).toEqual(['a', 'b', 'c'])
  })

  it('C-33 cannot be claimed by another publisher: 409, and nothing changes', async () => {
    await register(directory, fixture('FX-T01'))
    const claim = await directory.post('/agents', { as: 'tokB', body: fixture('FX-T01', { version: '6.6.6' }) })
    expect(claim.status).toBe(409)
    expect(claim.json.error.code).toBe('Conflict')
    expect((await directory.get('/agents/agent-12345')).json.version).toBe('1.2.0')
  })

  it('C-33 cannot be claimed even if it is hidden: the 409 reveals nothing about it', async () => {
    await register(directory, aidipAgent({ id: 'hidden', name: 'Nobody knows', visibility: 'private' }))
    const claim = await directory.post('/agents', { as: 'tokB', body: aidipAgent({ id: 'hidden' }) })
    expect(claim.status).toBe(409)
    expect(claim.text).not.toMatch(/Nobody knows|tokA/)
  })

  it('C-30 shares its id with every draft: a name in the Agent Directory cannot be claimed here by another owner', async () => {
    const body = { base: 'https://ad.example.net', capabilities: [{ name: 'purge', type: 'tool' }] }
    expect((await directory.post('/ad/r?agent=shared', { as: 'tokA', body })).status).toBe(201)
    expect((await directory.post('/agents', { as: 'tokB', body: aidipAgent({ id: 'shared' }) })).status).toBe(409)
    expect((await directory.get('/agents/shared')).json.name).toBe('shared')
  })
})

describe('permission to register', () => {
  it('AIDIP-4.2-07 needs credentials with the publish scope', async () => {
    const anonymous = await directory.post('/agents', { body: fixture('FX-T01') })
    expect(anonymous.status).toBe(401)
    expect(anonymous.headers.get('www-authenticate')).toMatch(/^Bearer/)
    expect(anonymous.json.error.code).toBe('Unauthorized')
    const client = await directory.post('/agents', { as: 'tokC', body: fixture('FX-T01') })
    expect(client.status).toBe(403)
    expect(client.json.error.code).toBe('Forbidden')
    expect((await directory.get('/agents/agent-12345', { as: 'admin' })).status).toBe(404)
  })

  it('AIDIP-4.1-01 is given to an administrator on behalf of a publisher, who becomes the owner', async () => {
    const made = await directory.post('/agents?owner=tokA', { as: 'admin', body: fixture('FX-T01') })
    expect(made.status).toBe(201)
    const byOwner = await directory.put('/agents/agent-12345', { as: 'tokA', body: fixture('FX-T01') })
    expect(byOwner.status).toBe(200)
    const byOther = await directory.put('/agents/agent-12345', { as: 'tokB', body: fixture('FX-T01') })
    expect(byOther.status).toBe(403)
  })

  it('AIDIP-4.1-01 is denied to others on behalf of another publisher', async () => {
    const made = await directory.post('/agents?owner=tokB', { as: 'tokA', body: fixture('FX-T01') })
    expect(made.status).toBe(403)
    expect((await directory.get('/agents/agent-12345')).status).toBe(404)
  })

  it('is limited to the names of a key that has name patterns', async () => {
    const key = await directory.makeKey({ subject: 'corp', scopes: ['publish'], names: ['corp-*'] })
    expect((await directory.post('/agents', { key, body: aidipAgent({ id: 'corp-1' }) })).status).toBe(201)
    expect((await directory.post('/agents', { key, body: aidipAgent({ id: 'other' }) })).status).toBe(403)
  })
})

describe('ids', () => {
  const form = (id: string) => directory.post('/agents', { as: 'tokA', body: aidipAgent({ id }) })

  it('AIDIP00-4-03 may be a UUID, a slug or a URI', async () => {
    const ids = ['7b0e4c1c-9a53-4be5-8d38-1c0f2a8e6f11', 'translator-001', 'https://agents.example.net/id/a?b=c#d']
    for (const id of ids) {
      expect((await form(id)).json.id).toBe(id)
      expect((await directory.get(`/agents/${encodeURIComponent(id)}`)).json.id).toBe(id)
    }
  })

  it.each(['search', 'public', '.', '..'])('C-04 must not be %j, which is a path of the directory', async (id) => {
    const answer = await form(id)
    expect(answer.status).toBe(400)
    expect(answer.json.error.message).toContain('/id')
  })

  it.each(['a*', '*', 'a\nb', 'a\u0000', 'a\u007f', 'a\u0085', ''])('C-30 must not be %j', async (id) => {
    expect((await form(id)).status).toBe(400)
    expect(await list(directory)).toEqual([])
  })

  it('C-30 have at most 512 code points', async () => {
    const longest = '𝒳'.repeat(512)
    const made = await form(longest)
    expect(made.status).toBe(201)
    expect((await directory.get(made.headers.get('location') ?? '')).json.id).toBe(longest)
    expect((await form('x'.repeat(513))).status).toBe(400)
  })
})

describe('an invalid document is rejected', () => {
  it('AIDIP-4.2-04 and the error names the missing member', async () => {
    const { name: _, ...nameless } = fixture('FX-T01')
    const { status, json } = await directory.post('/agents', { as: 'tokA', body: nameless })
    expect(status).toBe(400)
    expect(json.error.code).toBe('InvalidInput')
    expect(json.error.message).toContain('name')
  })

  it('AIDIP-4.2-04 and the error names every invalid member', async () => {
    const { json } = await directory.post('/agents', { as: 'tokA', body: aidipAgent({ tags: 'x', version: 1 }) })
    expect(json.error.details.map(({ member }: JsonObject) => member).sort()).toEqual(['/tags', '/version'])
  })

  it('AIDIP-3-01 if its metadata does not match the schema', async () => {
    expect(validateDocument('aidip', fixture('FX-T01'))).toEqual([])
    const missing = validateDocument('aidip', {}).map(({ at, message }) => `${at} ${message}`)
    for (const member of ['name', 'description', 'capabilities', 'endpoint', 'operations']) {
      expect(missing.some((text) => text.includes(member))).toBe(true)
    }
    const { status, json } = await directory.post('/agents', { as: 'tokA', body: {} })
    expect(status).toBe(400)
    expect(json.error.details).toHaveLength(missing.length)
  })

  it.each(['name', 'description', 'capabilities', 'endpoint'])('C-07 if %s is missing', async (member) => {
    const { [member]: _, ...document } = fixture('FX-T01')
    const { status, json } = await directory.post('/agents', { as: 'tokA', body: document })
    expect(status).toBe(400)
    expect(json.error.message).toContain(member)
    expect((await directory.get('/agents/agent-12345')).status).toBe(404)
  })

  const wrong: JsonObject = {
    name: 5,
    description: ['text'],
    version: 1.2,
    publisher: false,
    capabilities: { a: 1 },
    tags: 'nlp',
    endpoint: 42,
    supported_languages: 'en',
    authentication: 7,
    status: null,
    operations: { name: 'x' },
    inputs: 'text',
    outputs: [],
    visibility: 'secret',
  }
  it.each(Object.entries(wrong))(
    'AIDIP-4.2-05 if %s has the wrong type, and nothing is stored',
    async (name, value) => {
      const { status, json } = await directory.post('/agents', {
        as: 'tokA',
        body: fixture('FX-T01', { [name]: value }),
      })
      expect(status).toBe(400)
      expect(json.error.message).toContain(name)
      expect((await directory.get('/agents/agent-12345', { as: 'admin' })).status).toBe(404)
    },
  )

  it('AIDIP-4.2-05 if the id has the wrong type', async () => {
    expect((await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 12 }) })).status).toBe(400)
    expect(await list(directory)).toEqual([])
  })

  it('AIDIP-4.2-06 if it is not JSON', async () => {
    const broken = await directory.post('/agents', { as: 'tokA', raw: '{' })
    expect(broken.status).toBe(400)
    expect(broken.json.error.code).toBe('InvalidInput')
    const headers = { 'content-type': 'text/plain' }
    const text = await directory.post('/agents', { as: 'tokA', raw: JSON.stringify(fixture('FX-T01')), headers })
    expect(text.status).toBe(415)
    expect(text.json.error.code).toBe('UnsupportedMediaType')
    expect((await directory.post('/agents', { as: 'tokA' })).status).toBe(400)
    expect(await list(directory)).toEqual([])
  })

  it('AIDIP00-4-01 if it is not a JSON object', async () => {
    for (const body of [[fixture('FX-T01')], 'text', 1, null]) {
      expect((await directory.post('/agents', { as: 'tokA', body })).status).toBe(400)
    }
    expect(await list(directory)).toEqual([])
  })

  const fields = JSON.stringify(aidipAgent({ id: 'odd' })).slice(0, -1)
  it.each([
    ['a duplicate member', `${fields},"name":"again"}`],
    ['a member named __proto__', `${fields},"__proto__":{"x":1}}`],
    ['a lone surrogate', `${fields},"x":"\\ud800"}`],
    ['a number that overflows', `${fields},"x":1e400}`],
    ['nesting deeper than 64', `${fields},"x":${'['.repeat(64)}${']'.repeat(64)}}`],
  ])('if it has %s', async (_, raw) => {
    expect((await directory.post('/agents', { as: 'tokA', raw })).status).toBe(400)
    expect((await directory.get('/agents/odd')).status).toBe(404)
  })

  it('if it is not UTF-8', async () => {
    const raw = new Uint8Array([...new TextEncoder().encode(fields.slice(0, -1)), 0xff, 0x22, 0x7d])
    expect((await directory.post('/agents', { as: 'tokA', raw })).status).toBe(400)
  })

  it('C-24 if the version is not a string; the error says how to fix it', async () => {
    const raw = JSON.stringify(aidipAgent()).replace('{', '{"version": 3.1.4,')
    const { status, json } = await directory.post('/agents', { as: 'tokA', raw })
    expect(status).toBe(400)
    expect(json.error.message).toMatch(/quote it/)
  })

  it('C-76 if it is larger than 256 KiB (413) or has too many parts (400)', async () => {
    const large = await directory.post('/agents', { as: 'tokA', body: aidipAgent({ x: 'x'.repeat(270_000) }) })
    expect(large.status).toBe(413)
    expect(large.json.error.code).toBe('PayloadTooLarge')
    const many = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`)
    for (const body of [aidipAgent({ tags: many(101) }), aidipAgent({ capabilities: many(1001) })]) {
      expect((await directory.post('/agents', { as: 'tokA', body })).status).toBe(400)
    }
    await register(directory, aidipAgent({ tags: many(100), capabilities: many(1000) }))
  })
})

describe('errors', () => {
  it('C-68 are readable for clients of every draft', async () => {
    const headers = { 'x-request-id': 'trace-1' }
    const plain = await directory.get('/agents/nope', { headers })
    expect(plain.headers.get('content-type')).toMatch(/^application\/json/)
    expect(plain.headers.get('x-request-id')).toBe('trace-1')
    expect(plain.json).toMatchObject({
      type: expect.stringMatching(/^http/),
      title: expect.any(String),
      status: 404,
      detail: expect.any(String),
      instance: '/agents/nope',
      error: { code: 'NotFound', message: expect.any(String) },
      code: 'not_found',
      message: expect.any(String),
      correlation_id: 'trace-1',
    })
    const problem = await directory.get('/agents/nope', { headers: { accept: 'application/problem+json' } })
    expect(problem.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  })
})
