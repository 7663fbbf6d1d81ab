import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestCaller, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { idsOf, list, register, search } from './requests.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(async () => {
  await directory.clear()
  await register(directory, aidipAgent({ id: 'open' }))
  await register(directory, aidipAgent({ id: 'restricted', visibility: 'restricted' }))
  await register(directory, aidipAgent({ id: 'secret', visibility: 'private', tags: ['vault'] }))
})

const grant = async (changes: JsonObject): Promise<string> => {
  const body = { subject: 'tokC', scopes: ['discover'], ...changes }
  const { status, json } = await directory.post('/admin/grants', { as: 'admin', body })
  expect(status).toBe(201)
  return json.id
}

/** Whether the caller can see the private agent; checks that every list, search and read agrees. */
async function sees(as: TestCaller): Promise<boolean> {
  const query = { query: 'nothing else to say' }
  const answers = await Promise.all([
    directory.get('/agents', { as }),
    directory.get('/agents?id=secret', { as }),
    directory.post('/agents/search', { as, body: { filters: { tags: ['vault'] } } }),
    directory.post('/agents/search', { as, body: query }),
    directory.post('/agents/search', { as, body: { ...query, include_metadata: true } }),
    directory.get('/v0/agents', { as }),
    directory.post('/v0/agents/search', { as, body: query }),
    directory.get('/agents/secret', { as }),
    directory.get('/v0/agents/secret', { as }),
    directory.head('/agents/secret', { as }),
  ])
  const [lists, reads] = [answers.slice(0, 7), answers.slice(7)]
  const found = [
    ...lists.map((answer) => idsOf(answer).includes('secret')),
    ...reads.map(({ status }) => status === 200),
  ]
  expect(new Set(found).size, JSON.stringify([as, found])).toBe(1)
  const counted = lists.map((answer) => Number(answer.headers.get('x-total-count') ?? answer.json.count))
  expect(counted, as).toEqual(lists.map((answer) => idsOf(answer).length))
  for (const { status } of reads) expect([200, 404]).toContain(status)
  return found[0] ?? false
}

describe('a private agent', () => {
  it('AIDIP-9-04 C-95 is found and read with a grant only', async () => {
    expect(await sees('tokC')).toBe(false)
    const id = await grant({ agent: 'secret' })
    expect(await sees('tokC')).toBe(true)
    expect(await sees('tokB')).toBe(false)
    expect(await sees('anon')).toBe(false)
    await directory.delete(`/admin/grants/${id}`, { as: 'admin' })
    expect(await sees('tokC')).toBe(false)
  })

  it('C-95 is visible to its owner and the administrator', async () => {
    expect(await sees('tokA')).toBe(true)
    expect(await sees('admin')).toBe(true)
    expect(await sees('tokB')).toBe(false)
  })

  it('C-95 can be granted by tag, for agents that have the tag now or later', async () => {
    const id = await grant({ tag: 'vault' })
    expect(await sees('tokC')).toBe(true)
    await register(directory, aidipAgent({ id: 'later', visibility: 'private', tags: ['vault', 'x'] }), 'tokB')
    await register(directory, aidipAgent({ id: 'other', visibility: 'private', tags: ['vaults'] }), 'tokB')
    expect(await list(directory, '', { as: 'tokC' })).toEqual(['open', 'restricted', 'secret', 'later'])
    await directory.put('/agents/later', { as: 'tokB', body: aidipAgent({ visibility: 'private' }) })
    expect((await directory.get('/agents/later', { as: 'tokC' })).status).toBe(404)
    await directory.delete(`/admin/grants/${id}`, { as: 'admin' })
    expect(await sees('tokC')).toBe(false)
  })

  it('C-95 is visible with a grant to invoke, too', async () => {
    await grant({ agent: 'secret', scopes: ['invoke'] })
    expect(await sees('tokC')).toBe(true)
  })

  it('C-95 becomes visible to others when its owner makes it public, and hidden again when private', async () => {
    const change = (visibility: string) =>
      directory.put('/agents/secret', { as: 'tokA', body: aidipAgent({ visibility, tags: ['vault'] }) })
    await change('public')
    expect(await sees('anon')).toBe(true)
    await change('private')
    expect(await sees('anon')).toBe(false)
  })

  it('hides its private members from subjects with a grant', async () => {
    const body = aidipAgent({ visibility: 'private', tags: ['vault'], notes: 'quokka', private: ['notes'] })
    await directory.put('/agents/secret', { as: 'tokA', body })
    await grant({ agent: 'secret' })
    const { status, text } = await directory.get('/agents/secret', { as: 'tokC' })
    expect(status).toBe(200)
    expect(text).not.toContain('quokka')
  })

  it('does not pass its grants on to another owner who registers the name later', async () => {
    await grant({ agent: 'secret' })
    await directory.delete('/agents/secret', { as: 'tokA' })
    await register(directory, aidipAgent({ id: 'secret', visibility: 'private', tags: ['vault'] }), 'tokB')
    expect(await sees('tokC')).toBe(false)
  })

  it('C-70 is indistinguishable from one that does not exist', async () => {
    const headers = { 'x-request-id': 'same' }
    for (const as of ['anon', 'tokB'] as const) {
      const hidden = await directory.get('/agents/secret', { as, headers })
      const absent = await directory.get('/agents/absent', { as, headers })
      expect(hidden.status).toBe(404)
      expect(hidden.text.replaceAll('secret', 'absent')).toBe(absent.text)
    }
  })
})

describe('a restricted agent', () => {
  it('C-95 is found and read like a public one', async () => {
    expect(await list(directory)).toEqual(['open', 'restricted'])
    expect((await directory.get('/agents/restricted')).status).toBe(200)
  })
})

describe('what a caller sees', () => {
  it('AIDIP00-5.1-02 AIDIP00-5.1-01 an anonymous caller gets the public list, without private agents', async () => {
    const answer = await directory.get('/agents')
    expect(answer.status).toBe(200)
    expect(idsOf(answer)).toEqual(['open', 'restricted'])
    expect(idsOf(await directory.get('/agents/public'))).toEqual(['open', 'restricted'])
  })

  it('AIDIP00-5.1-01 every caller gets the same public agents from /agents/public', async () => {
    for (const as of ['anon', 'tokA', 'tokC', 'admin'] as const) {
      const answer = await directory.get('/agents/public', { as })
      expect([as, idsOf(answer), answer.json.count]).toEqual([as, ['open', 'restricted'], 2])
    }
  })

  it('AIDIP00-5.1-06 AIDIP00-5.2-16 a client with a grant also gets the private agent, and only its count includes it', async () => {
    await grant({ agent: 'secret' })
    const request = { body: { query: 'agent made for a test', skip: 0 } }
    const anonymous = await directory.post('/agents/search', request)
    const granted = await directory.post('/agents/search', { ...request, as: 'tokC' })
    expect([idsOf(anonymous).sort(), anonymous.json.count]).toEqual([['open', 'restricted'], 2])
    expect([idsOf(granted).sort(), granted.json.count]).toEqual([['open', 'restricted', 'secret'], 3])
  })

  it('AIDIP-1-01 applications and agents get the same responses', async () => {
    const browser = await directory.makeKey({ subject: 'https://app.example.net', scopes: ['discover'] })
    const agent = await directory.makeKey({ subject: 'urn:agent:planner', scopes: ['discover', 'invoke', 'publish'] })
    const flow = async (key: string) => {
      const headers = { 'x-request-id': 'same' }
      const found = await directory.post('/agents/search', { key, headers, body: { query: 'test', top: 3 } })
      const read = await directory.get(`/agents/${found.json[0].id}`, { key, headers })
      const listed = await directory.get('/agents?capabilities=probe', { key, headers })
      const missing = await directory.get('/agents/secret', { key, headers })
      return [found, read, listed, missing].map(({ status, text }) => ({ status, text }))
    }
    const answers = await flow(browser)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404])
    expect(await flow(agent)).toEqual(answers)
  })
})

describe('the operator’s setting for anonymous callers', () => {
  it('AIDIP00-5.2-17 C-53 public: anonymous callers find public agents', async () => {
    expect(await search(directory, { query: 'test' })).toEqual(['open', 'restricted'])
  })

  it('AIDIP00-5.2-17 C-53 none: anonymous callers get 401 everywhere, others do not', async () => {
    await directory.restart({ anonymous: 'none' })
    try {
      for (const path of [
        '/agents',
        '/agents/public',
        '/v0/agents',
        '/agents/open',
        '/agents/secret',
        '/agents/absent',
      ]) {
        const { status, headers } = await directory.get(path)
        expect([path, status]).toEqual([path, 401])
        expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
      }
      expect((await directory.post('/agents/search', { body: {} })).status).toBe(401)
      expect(await search(directory, {}, { as: 'tokC' })).toEqual(['open', 'restricted'])
      expect(idsOf(await directory.get('/agents/public', { as: 'tokC' }))).toEqual(['open', 'restricted'])
      const key = await directory.makeKey({ subject: 'tokD', scopes: ['publish'] })
      expect((await directory.post('/agents/search', { key, body: {} })).status).toBe(403)
    } finally {
      await directory.restart()
    }
  })
})
