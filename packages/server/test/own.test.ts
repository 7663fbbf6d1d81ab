import type { JsonObject } from '@switchboard/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterEach(() => directory.clear())
afterAll(() => directory.close())

const agent = (id: string, rest: JsonObject = {}): JsonObject =>
  aidipAgent({ id, name: id, endpoint: 'http://127.0.0.1:9/', ...rest })

/** A registration of the Agent Directory. */
const ENTRY = fixture('FX-SUM')

describe('what belongs to the caller', () => {
  it('lists its own agents only, also those that nobody else sees', async () => {
    await directory.post('/agents', { as: 'tokA', body: agent('mine', { visibility: 'private' }) })
    await directory.post('/agents', { as: 'tokA', body: agent('also-mine') })
    await directory.post('/agents', { as: 'tokB', body: agent('theirs') })
    const { json, headers } = await directory.get('/me/agents', { as: 'tokA' })
    expect(json).toMatchObject({
      count: 2,
      agents: [
        { id: 'also-mine', visibility: 'public', status: 'active', format: 'aidip' },
        { id: 'mine', visibility: 'private' },
      ],
    })
    expect(headers.get('cache-control')).toBe('no-store')
    expect((await directory.get('/me/agents?top=1&skip=1', { as: 'tokA' })).json).toMatchObject({
      count: 2,
      agents: [{ id: 'mine' }],
    })
    expect((await directory.get('/me/agents?top=x', { as: 'tokA' })).json.message).toContain('?top')
  })

  it('shows when an agent expires', async () => {
    await directory.post('/ad/r?agent=short&lt=60', {
      as: 'tokA',
      body: ENTRY,
    })
    const { json } = await directory.get('/me/agents', { as: 'tokA' })
    expect(Date.parse(json.agents[0].expires_at)).toBeGreaterThan(Date.now())
  })

  it('lists and revokes its own keys, and no others', async () => {
    const key = await directory.makeKey({ subject: 'dora', scopes: ['discover'] })
    const other = await directory.makeKey({ subject: 'emil', scopes: ['discover'] })
    const { json, text } = await directory.get('/me/keys', { key })
    expect(json.keys).toEqual([expect.objectContaining({ subject: 'dora', scopes: ['discover'] })])
    expect(text).not.toContain(key)
    const [own] = json.keys
    expect((await directory.delete(`/me/keys/${own.id}`, { key: other })).status).toBe(404)
    expect((await directory.delete(`/me/keys/${own.id}`, { key })).status).toBe(204)
    expect((await directory.get('/me/keys', { key })).status).toBe(401)
  })

  it('lists its own deferred calls, without their results', async () => {
    await directory.post('/agents', { as: 'tokA', body: agent('slow') })
    const started = await directory.post('/agents/slow/invoke', {
      as: 'tokC',
      body: { text: 'x' },
      headers: { prefer: 'respond-async' },
    })
    expect(started.status).toBe(202)
    const { json } = await directory.get('/me/tasks', { as: 'tokC' })
    expect(json.tasks).toEqual([expect.objectContaining({ taskId: started.json.taskId, agent: 'slow' })])
    expect(json.tasks[0]).not.toHaveProperty('result')
    expect((await directory.get('/me/tasks', { as: 'tokA' })).json).toEqual({ tasks: [] })
  })

  it.each(['/me/agents', '/me/keys', '/me/tasks'])('needs credentials for %s', async (path) => {
    expect((await directory.get(path, { as: 'anon' })).status).toBe(401)
  })
})

describe('POST /preview', () => {
  it('shows the effect, the warnings and every view, and changes nothing', async () => {
    const { status, json } = await directory.post('/preview', { as: 'tokA', body: agent('new-one', { x_y: 1 }) })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      id: 'new-one',
      format: 'aidip',
      effect: 'create',
      views: { aidip: { id: 'new-one' } },
    })
    expect(Object.keys(json.views)).toEqual(['aidip', 'aidip00', 'profile', 'directory', 'descriptor', 'a2a'])
    expect((await directory.get('/agents/new-one', { as: 'tokA' })).status).toBe(404)
    expect((await directory.get('/admin/audit?agent=new-one', { as: 'admin' })).json.entries).toEqual([])
  })

  it('says whether the document replaces an agent, or only refreshes it', async () => {
    await directory.post('/agents', { as: 'tokA', body: agent('known') })
    const same = await directory.post('/preview', { as: 'tokA', body: agent('known') })
    const other = await directory.post('/preview', { as: 'tokA', body: agent('known', { name: 'New' }) })
    expect([same.json.effect, other.json.effect]).toEqual(['refresh', 'replace'])
  })

  it('fails as registering would', async () => {
    await directory.post('/agents', { as: 'tokA', body: agent('taken', { sequence: 5 }) })
    const wrong = await directory.post('/preview', { as: 'tokA', body: agent('bad', { endpoint: 7 }) })
    const taken = await directory.post('/preview', { as: 'tokB', body: agent('taken') })
    const stale = await directory.post('/preview', { as: 'tokA', body: agent('taken', { sequence: 4 }) })
    // Not even told what is wrong with it.
    const denied = await directory.post('/preview', { as: 'tokC', body: agent('free', { endpoint: 7 }) })
    expect([wrong.status, taken.status, stale.status, denied.status]).toEqual([400, 409, 409, 403])
    expect(wrong.json.message).toContain('/endpoint')
    for (const [response, caller, body] of [
      [wrong, 'tokA', agent('bad', { endpoint: 7 })],
      [taken, 'tokB', agent('taken')],
      [stale, 'tokA', agent('taken', { sequence: 4 })],
    ] as const) {
      const registered = await directory.post('/agents', { as: caller, body })
      expect([response.status, response.json.message]).toEqual([registered.status, registered.json.message])
    }
  })

  it('reads other formats, with an id of their own or from the query', async () => {
    const { json } = await directory.post('/preview?id=printer', { as: 'tokA', body: ENTRY })
    expect(json).toMatchObject({ id: 'printer', format: 'directory', effect: 'create' })
    const unknown = await directory.post('/preview', { as: 'tokA', body: { hello: 'world' } })
    expect([unknown.status, unknown.json.message]).toEqual([400, expect.stringContaining('format')])
  })
})
