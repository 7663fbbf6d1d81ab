import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { list, register, search } from './requests.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const put = (id: string, changes: JsonObject = {}, headers: Record<string, string> = {}) =>
  directory.put(`/agents/${id}`, { as: 'tokA', body: aidipAgent(changes), headers })

describe('PUT /agents/{id}', () => {
  it('AIDIP-4.2-08 updates the agent: 200, and the new endpoint is served', async () => {
    await register(directory, fixture('FX-T01'))
    const body = fixture('FX-T01', { endpoint: 'https://new.example.com/t' })
    const { status, json } = await directory.put('/agents/agent-12345', { as: 'tokA', body })
    expect(status).toBe(200)
    expect(json.endpoint).toBe('https://new.example.com/t')
    expect((await directory.get('/agents/agent-12345')).json.endpoint).toBe('https://new.example.com/t')
    expect((await directory.get('/agents')).json[0].endpoint).toBe('https://new.example.com/t')
  })

  it('AIDIP-4.2-09 returns 404 for an unknown id and creates nothing', async () => {
    const { status, json } = await put('nope')
    expect(status).toBe(404)
    expect(json.error.code).toBe('NotFound')
    expect((await directory.get('/agents/nope')).status).toBe(404)
    expect(await list(directory)).toEqual([])
  })

  it('AIDIP-4.2-10 returns 403 to another publisher and changes nothing', async () => {
    await register(directory, fixture('FX-T01'))
    const before = await directory.get('/agents/agent-12345')
    const body = fixture('FX-T01', { version: '6.6.6' })
    const { status, json } = await directory.put('/agents/agent-12345', { as: 'tokB', body })
    expect(status).toBe(403)
    expect(json.error.code).toBe('Forbidden')
    expect((await directory.put('/agents/agent-12345', { as: 'tokC', body })).status).toBe(403)
    expect((await directory.put('/agents/agent-12345', { body })).status).toBe(401)
    expect((await directory.get('/agents/agent-12345')).text).toBe(before.text)
  })

  it('AIDIP-4.2-11 validates like POST and keeps the old document if invalid', async () => {
    await register(directory, fixture('FX-T01'))
    const before = await directory.get('/agents/agent-12345')
    const body = fixture('FX-T01', { capabilities: 'translation' })
    const { status, json } = await directory.put('/agents/agent-12345', { as: 'tokA', body })
    expect(status).toBe(400)
    expect(json.error.message).toContain('/capabilities')
    expect((await directory.put('/agents/agent-12345', { as: 'tokA', raw: '{' })).status).toBe(400)
    expect((await directory.get('/agents/agent-12345')).text).toBe(before.text)
  })

  it('AIDIP-4.2-12 makes the new content searchable immediately, and the old no longer', async () => {
    await register(
      directory,
      aidipAgent({ id: 'x', capabilities: ['aaa'], tags: ['old'], description: 'Paints barns.' }),
    )
    await put('x', { capabilities: ['bbb'], tags: ['new'], description: 'Repairs clocks.' })
    expect(await search(directory, { filters: { capabilities: ['aaa'] } })).toEqual([])
    expect(await search(directory, { filters: { capabilities: ['bbb'] } })).toEqual(['x'])
    expect(await search(directory, { filters: { tags: ['old'] } })).toEqual([])
    expect(await search(directory, { filters: { tags: ['new'] } })).toEqual(['x'])
    expect(await search(directory, { query: 'barns' })).toEqual([])
    expect(await search(directory, { query: 'clocks' })).toEqual(['x'])
  })

  it('AIDIP-9-07 C-36 rejects a body id that differs from the path', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    const { status, json } = await put('x', { id: 'y', version: '2' })
    expect(status).toBe(400)
    expect(json.error.message).toContain('/id')
    expect((await directory.get('/agents/x')).json).not.toHaveProperty('version')
    expect((await directory.get('/agents/y')).status).toBe(404)
  })

  it('C-36 uses the id from the path if the body has none', async () => {
    await register(directory, aidipAgent({ id: 'a/b c' }))
    const { status, json } = await put('a%2Fb%20c', { version: '2' })
    expect(status).toBe(200)
    expect(json.id).toBe('a/b c')
    expect((await directory.get('/agents/a%2Fb%20c')).json).toMatchObject({ id: 'a/b c', version: '2' })
  })

  it('C-33 returns 404 if the agent is hidden from the caller', async () => {
    await register(directory, aidipAgent({ id: 'hidden', visibility: 'private' }))
    const body = aidipAgent()
    const hidden = await directory.put('/agents/hidden', { as: 'tokB', body })
    const unknown = await directory.put('/agents/unknown', { as: 'tokB', body })
    expect(hidden.status).toBe(404)
    expect(hidden.json.message.replace('hidden', 'unknown')).toBe(unknown.json.message)
    expect((await directory.delete('/agents/hidden', { as: 'tokB' })).status).toBe(404)
    expect((await directory.get('/agents/hidden', { as: 'tokA' })).status).toBe(200)
  })

  it('allows the administrator to update without becoming the owner', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    expect((await directory.put('/agents/x', { as: 'admin', body: aidipAgent({ version: '2' }) })).status).toBe(200)
    expect((await put('x', { version: '3' })).status).toBe(200)
  })
})

describe('DELETE /agents/{id}', () => {
  it('C-03 removes the agent for its owner: 204, and the name is free', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    const gone = await directory.delete('/agents/x', { as: 'tokA' })
    expect(gone.status).toBe(204)
    expect(gone.text).toBe('')
    expect((await directory.get('/agents/x')).status).toBe(404)
    expect(await list(directory)).toEqual([])
    expect((await directory.delete('/agents/x', { as: 'tokA' })).status).toBe(404)
    await register(directory, aidipAgent({ id: 'x' }), 'tokB')
  })

  it('C-33 returns 403 to another publisher and 401 without credentials', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    expect((await directory.delete('/agents/x', { as: 'tokB' })).status).toBe(403)
    expect((await directory.delete('/agents/x', { as: 'tokC' })).status).toBe(403)
    expect((await directory.delete('/agents/x')).status).toBe(401)
    expect((await directory.get('/agents/x')).status).toBe(200)
  })
})

describe('C-35 deciding which update is newer', () => {
  const stored = { id: 'x', description: 'The first text of this agent.' }

  it('without timestamp or sequence the last write wins, whatever the version says', async () => {
    await register(directory, aidipAgent({ ...stored, version: '2.0.0' }))
    expect((await put('x', { version: '1.0.0' })).status).toBe(200)
    expect(
      (await directory.post('/agents', { as: 'tokA', body: aidipAgent({ ...stored, version: '0.9' }) })).status,
    ).toBe(200)
    expect((await directory.get('/agents/x')).json.version).toBe('0.9')
  })

  it.each([
    ['sequence', 7, 8, 6],
    ['updated_at', '2026-05-08T00:00:00Z', '2026-05-08T01:00:01+01:00', '2026-05-08T00:59:59+01:00'],
  ])('by %s: later replaces, earlier is stale', async (member, now, later, earlier) => {
    await register(directory, aidipAgent({ ...stored, [member]: now }))
    for (const stale of [
      await put('x', { [member]: earlier, version: 'stale' }),
      await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'x', [member]: earlier }) }),
    ]) {
      expect(stale.status).toBe(409)
      expect(stale.json.error.code).toBe('StaleMetadata')
      expect(stale.json.code).toBe('stale_metadata')
    }
    expect((await directory.get('/agents/x')).json[member]).toBe(now)
    expect((await put('x', { [member]: later, version: 'new' })).status).toBe(200)
    expect((await directory.get('/agents/x')).json.version).toBe('new')
  })

  it('sequence takes precedence over updated_at', async () => {
    await register(directory, aidipAgent({ ...stored, sequence: 1, updated_at: '2026-05-08T00:00:00Z' }))
    expect((await put('x', { sequence: 2, updated_at: '2020-01-01T00:00:00Z' })).status).toBe(200)
    expect((await put('x', { sequence: 1, updated_at: '2027-01-01T00:00:00Z' })).status).toBe(409)
  })

  it('a member that only one side has is ignored', async () => {
    await register(directory, aidipAgent({ ...stored, sequence: 5 }))
    expect((await put('x', { updated_at: '2020-01-01T00:00:00Z' })).status).toBe(200)
    expect((await put('x', { sequence: 1 })).status).toBe(200)
  })

  it('the same timestamp with the same content changes nothing, in any notation of the time', async () => {
    await register(directory, aidipAgent({ ...stored, updated_at: '2026-05-08T00:00:00Z' }))
    const before = await directory.get('/agents/x')
    const again = await put('x', { ...stored, updated_at: '2026-05-08T02:00:00+02:00' })
    expect(again.status).toBe(200)
    expect((await directory.get('/agents/x')).headers.get('etag')).toBe(before.headers.get('etag'))
  })

  it('the same sequence with different content is a conflict', async () => {
    await register(directory, aidipAgent({ ...stored, sequence: 3 }))
    const { status, json } = await put('x', { sequence: 3, version: 'other' })
    expect(status).toBe(409)
    expect(json.error.code).toBe('Conflict')
    expect((await directory.get('/agents/x')).json).not.toHaveProperty('version')
  })

  it('a changed endpoint with a higher sequence is an ordinary update', async () => {
    await register(directory, aidipAgent({ ...stored, sequence: 3 }))
    expect((await put('x', { sequence: 4, endpoint: 'https://moved.example.net' })).status).toBe(200)
  })

  it('members of the wrong type are rejected', async () => {
    for (const changes of [{ sequence: '5' }, { sequence: 1.5 }, { updated_at: 'yesterday' }, { updated_at: 5 }]) {
      expect((await directory.post('/agents', { as: 'tokA', body: aidipAgent(changes) })).status).toBe(400)
    }
  })
})

describe('C-35 If-Match', () => {
  const tagOf = async (path = '/agents/x') => (await directory.get(path)).headers.get('etag') ?? ''

  it('prevents overwriting a concurrent change', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    const tag = await tagOf()
    expect((await put('x', { version: '2' }, { 'if-match': tag })).status).toBe(200)
    const late = await put('x', { version: '3' }, { 'if-match': tag })
    expect(late.status).toBe(412)
    expect(late.json.code).toBe('stale_metadata')
    expect((await directory.get('/agents/x')).json.version).toBe('2')
    expect((await put('x', { version: '3' }, { 'if-match': `"other", ${await tagOf()}` })).status).toBe(200)
  })

  it('works with POST, and with the ETag of any view', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    const headers = { 'if-match': await tagOf('/v0/agents/x') }
    const post = () => directory.post('/agents', { as: 'tokA', headers, body: aidipAgent({ id: 'x', version: '2' }) })
    expect((await post()).status).toBe(200)
    expect((await post()).status).toBe(412)
  })

  it('takes precedence over sequence and updated_at', async () => {
    await register(directory, aidipAgent({ id: 'x', sequence: 9 }))
    expect((await put('x', { sequence: 1 }, { 'if-match': await tagOf() })).status).toBe(200)
    expect((await directory.get('/agents/x')).json.sequence).toBe(1)
  })

  it('compares strongly: a weak ETag never matches', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    expect((await put('x', {}, { 'if-match': `W/${await tagOf()}` })).status).toBe(412)
  })

  it('* matches any existing agent, and fails if there is none', async () => {
    const headers = { 'if-match': '*' }
    const create = () => directory.post('/agents', { as: 'tokA', headers, body: aidipAgent({ id: 'x' }) })
    expect((await create()).status).toBe(412)
    expect((await directory.get('/agents/x')).status).toBe(404)
    await register(directory, aidipAgent({ id: 'x' }))
    expect((await create()).status).toBe(200)
  })

  it('protects against deleting a changed agent', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    const tag = await tagOf()
    await put('x', { version: '2' })
    const remove = (match: string) => directory.delete('/agents/x', { as: 'tokA', headers: { 'if-match': match } })
    expect((await remove(tag)).status).toBe(412)
    expect((await remove(await tagOf())).status).toBe(204)
  })

  it('allows one of several concurrent writers to win', async () => {
    await register(directory, aidipAgent({ id: 'x' }))
    const headers = { 'if-match': await tagOf() }
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => put('x', { version: `${i}` }, headers)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)])
  })
})
