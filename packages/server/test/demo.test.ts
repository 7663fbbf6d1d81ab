import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startDemo } from '../../demo/src/index.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { aidipAgent } from './support/documents.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({}, { startDemo })
})
afterEach(() => directory.delete('/admin/demo', { as: 'admin' }))
afterAll(() => directory.close())

const as = { as: 'admin' } as const
const listed = async (): Promise<string[]> =>
  (await directory.get('/agents?top=50')).json.map((agent: { id: string }) => agent.id)

describe('/admin/demo', () => {
  it('starts the agents, once, and removes them', async () => {
    expect((await directory.get('/admin/demo', as)).json).toEqual({ available: true, running: false, agents: [] })
    const [first, second] = await Promise.all([directory.post('/admin/demo', as), directory.post('/admin/demo', as)])
    expect([first.status, second.status].sort()).toEqual([200, 201])
    expect(first.json.agents).toHaveLength(12)
    expect(first.json.agents[0]).toMatchObject({
      id: 'demo-translator',
      query: expect.any(String),
      input: { to: 'es' },
    })
    expect((await listed()).sort()).toEqual(first.json.agents.map(({ id }: { id: string }) => id).sort())
    expect((await directory.get('/admin/demo', as)).json).toMatchObject({ running: true, agents: first.json.agents })

    const { status, json } = await directory.post('/agents/demo-units/invoke', {
      as: 'tokC',
      body: { value: 1, from: 'km', to: 'm' },
    })
    expect([status, json]).toEqual([200, { value: 1000, unit: 'm' }])

    expect((await directory.delete('/admin/demo', as)).status).toBe(204)
    expect(await listed()).toEqual([])
    expect((await directory.get('/admin/demo', as)).json).toMatchObject({ running: false })
  })

  it('can be started again', async () => {
    expect((await directory.post('/admin/demo', as)).status).toBe(201)
    await directory.delete('/admin/demo', as)
    expect((await directory.post('/admin/demo', as)).status).toBe(201)
    expect(await listed()).toHaveLength(12)
  })

  it('is in the audit log with what it registers, without a sign-in of its own', async () => {
    await directory.post('/admin/demo', as)
    const { entries } = (await directory.get('/admin/audit?subject=switchboard-demo', as)).json
    expect(new Set(entries.map(({ action }: { action: string }) => action))).toContain('register')
    expect(entries.filter(({ action }: { action: string }) => action === 'sign-in')).toEqual([])
  })

  it('is for administrators', async () => {
    expect((await directory.post('/admin/demo', { as: 'tokA' })).status).toBe(403)
    expect((await directory.post('/admin/demo')).status).toBe(401)
    expect((await directory.get('/admin/demo', { as: 'tokA' })).status).toBe(403)
  })

  it('leaves the agents of others alone, and says which one is in the way', async () => {
    await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'demo-units' }) })
    const { status, json } = await directory.post('/admin/demo', as)
    expect(status).toBe(409)
    expect(json.message).toMatch(/^the demo could not be started: .*demo-units/)
    expect((await directory.delete('/admin/demo', as)).status).toBe(204)
    expect(await listed()).toEqual(['demo-units'])
    await directory.clear()
  })

  it('removes its agents when the directory stops', async () => {
    await directory.post('/admin/demo', as)
    await directory.restart()
    expect(await listed()).toEqual([])
  })
})

describe('a directory that cannot run the demo', () => {
  it('says so in production mode', async () => {
    const production = await startDirectory({ behindProxy: true }, { startDemo })
    const headers = { 'x-forwarded-proto': 'https' }
    expect((await production.get('/admin/demo', { ...as, headers })).json).toMatchObject({ available: false })
    for (const send of [production.post, production.delete]) {
      const { status, json } = await send('/admin/demo', { ...as, headers })
      expect(status).toBe(403)
      expect(json.message).toMatch(/development mode/)
    }
    await production.close()
  })

  it('says so if none was given to it', async () => {
    const embedded = await startDirectory()
    expect((await embedded.get('/admin/demo', as)).json).toMatchObject({ available: false })
    expect((await embedded.post('/admin/demo', as)).status).toBe(404)
    await embedded.close()
  })
})
