import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent } from './support/documents.js'

let directory: TestDirectory
let agent: Server
let endpoint: string
beforeEach(async () => {
  directory = await startDirectory()
  agent = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"part":1}\n\n')
  })
  await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve))
  const address = agent.address()
  endpoint = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}/` : ''
})
afterEach(async () => {
  await directory.close()
  agent.closeAllConnections()
  agent.close()
})

const register = (id: string, as: 'tokA' | 'tokB' = 'tokA') =>
  directory.post('/agents', { as, body: aidipAgent({ id, endpoint, description: 'by Anna' }) })

const linesOf = async (subject: string): Promise<{ kind: string; value: Record<string, unknown> }[]> => {
  const { text, status } = await directory.get(`/admin/subjects/${subject}/export`, { as: 'admin' })
  expect(status).toBe(200)
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
}
const wholeAudit = async (): Promise<string> => (await directory.get('/admin/audit?limit=1000', { as: 'admin' })).text

describe('what is kept about a subject', () => {
  it('AURI-10.1-01 is exported by administrators only, one JSON object per line', async () => {
    await register('one')
    await directory.post('/admin/grants', { as: 'admin', body: { subject: 'tokA', tag: 't', scopes: ['discover'] } })
    await directory.post('/agents/one/feedback', { as: 'tokA', body: { rating: 5, comment: 'great' } })
    const lines = await linesOf('tokA')
    const kinds = new Set(lines.map(({ kind }) => kind))
    expect([...kinds]).toEqual(expect.arrayContaining(['agent', 'key', 'grant', 'audit']))
    expect(lines.find(({ kind }) => kind === 'agent')?.value).toMatchObject({ document: { description: 'by Anna' } })
    expect(lines.find(({ kind }) => kind === 'key')?.value).not.toHaveProperty('hash')
    expect((await directory.get('/admin/subjects/tokA', { as: 'admin' })).json.counts).toMatchObject({
      agent: 1,
      key: 1,
    })
    for (const path of ['/admin/subjects/tokA', '/admin/subjects/tokA/export'])
      expect((await directory.get(path, { as: 'tokA' })).status).toBe(403)
    expect((await directory.delete('/admin/subjects/tokA', { as: 'tokA' })).status).toBe(403)
    expect(await linesOf('nobody')).toEqual([])
  })

  it('AURI-10.1-01 is erased: its agents are gone, its keys are rejected, its calls end, the audit log has no name', async () => {
    await register('one')
    await register('other', 'tokB')
    const key = await directory.makeKey({ subject: 'anna', scopes: ['publish', 'discover', 'invoke'] })
    await directory.post('/agents', { key, body: aidipAgent({ id: 'annas', endpoint }) })
    const stream = await fetch(`${directory.url}/agents/other/invoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: '{"text":"a"}',
    })
    const ended = stream.text()
    expect(await Promise.race([ended, sleep(100, 'running')])).toBe('running')

    const { status, json } = await directory.delete('/admin/subjects/anna', { as: 'admin' })
    expect(status).toBe(200)
    expect(json).toMatchObject({ erased: { agent: 1, key: 1 }, alias: expect.stringMatching(/^erased:/) })
    expect(await ended).toContain('event: error')
    expect((await directory.get('/agents/annas')).status).toBe(404)
    expect((await directory.get('/agents', { key })).status).toBe(401)
    const log = await wholeAudit()
    expect(log).not.toMatch(/\banna\b/)
    expect(log).toContain('subject.erase')
    expect(await linesOf('anna')).toEqual([])

    // Others have lost nothing, and a restart brings nothing back.
    await directory.restart()
    expect((await directory.get('/agents/annas')).status).toBe(404)
    expect((await directory.get('/agents/one')).status).toBe(200)
    expect((await directory.get('/agents/other')).status).toBe(200)
    expect(await wholeAudit()).not.toMatch(/\banna\b/)
    expect((await directory.delete('/admin/subjects/anna', { as: 'admin' })).status).toBe(404)
  })

  it('of the directory itself cannot be erased or renamed', async () => {
    for (const name of ['admin', 'anonymous', 'switchboard']) {
      expect((await directory.delete(`/admin/subjects/${name}`, { as: 'admin' })).status).toBe(400)
      const rename = { as: 'admin', body: { to: 'x' } } as const
      expect((await directory.post(`/admin/subjects/${name}/rename`, rename)).status).toBe(400)
      const onto = { as: 'admin', body: { to: name } } as const
      expect((await directory.post('/admin/subjects/tokA/rename', onto)).status).toBe(400)
    }
  })

  it('moves to another name: its keys, agents and grants work as before', async () => {
    const key = await directory.makeKey({ subject: 'anna', scopes: ['publish', 'discover'] })
    const body = aidipAgent({ id: 'annas', endpoint, visibility: 'private' })
    expect((await directory.post('/agents', { key, body })).status).toBe(201)
    await register('hidden', 'tokB')
    const taken = { as: 'admin', body: { to: 'tokB' } } as const
    const refused = await directory.post('/admin/subjects/anna/rename', taken)
    expect(refused.status).toBe(409)
    expect(refused.json.message).toContain('"merge": true')
    const moved = await directory.post('/admin/subjects/anna/rename', {
      as: 'admin',
      body: { to: 'https://issuer.example#anna/7' },
    })
    expect(moved.json).toMatchObject({ moved: { agent: 1, key: 1 } })
    expect((await directory.put('/agents/annas', { key, body: { ...body, description: 'new' } })).status).toBe(200)
    const path = `/admin/subjects/${encodeURIComponent('https://issuer.example#anna/7')}`
    expect((await directory.get(path, { as: 'admin' })).json.counts).toMatchObject({ agent: 1, key: 1 })
    expect((await directory.get('/admin/subjects/anna', { as: 'admin' })).json.counts).toEqual({})
    const joined = await directory.post(`${path}/rename`, { as: 'admin', body: { to: 'tokB', merge: true } })
    expect(joined.status).toBe(200)
    expect((await directory.get('/agents/annas', { as: 'tokB' })).status).toBe(200)
    expect((await directory.post('/admin/subjects/nobody/rename', taken)).status).toBe(404)
  })
})

it('a subject’s calls end when its last key is revoked', async () => {
  await register('one')
  const key = await directory.makeKey({ subject: 'anna', scopes: ['discover', 'invoke'] })
  const stream = await fetch(`${directory.url}/agents/one/invoke`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: '{"text":"a"}',
  })
  const { keys } = (await directory.get('/admin/keys', { as: 'admin' })).json
  const { id } = keys.find(({ subject }: { subject: string }) => subject === 'anna')
  await directory.delete(`/admin/keys/${id}`, { as: 'admin' })
  expect(await stream.text()).toContain('event: error')
})
