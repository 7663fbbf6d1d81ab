import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({
    peers: [{ name: 'fixed', url: 'https://fixed.invalid/', trust: 'none', token: 'config-secret' }],
  })
})
afterAll(() => directory.close())

const admin = { as: 'admin' } as const
const list = async () => (await directory.get('/admin/peers', admin)).json.peers

describe('peers', () => {
  it('of the config are listed, and cannot be changed or replaced over the API', async () => {
    expect(await list()).toMatchObject([
      { name: 'fixed', url: 'https://fixed.invalid', source: 'config', trust: 'none', has_token: true, failures: 0 },
    ])
    const body = { name: 'fixed', url: 'https://else.example' }
    expect((await directory.post('/admin/peers', { ...admin, body })).status).toBe(409)
    expect((await directory.patch('/admin/peers/fixed', { ...admin, body: { trust: 'full' } })).status).toBe(409)
    expect((await directory.delete('/admin/peers/fixed', admin)).status).toBe(409)
  })

  it('are added, changed and removed by administrators; tokens are never shown and survive a restart', async () => {
    const body = { name: 'north', url: 'https://north.invalid', token: 'very-secret', trust: 'none', tags: ['law'] }
    const added = await directory.post('/admin/peers', { ...admin, body })
    expect(added.status).toBe(201)
    expect(added.json).toMatchObject({ source: 'admin', has_token: true, interval_seconds: 300, tags: ['law'] })
    const changed = await directory.patch('/admin/peers/north', {
      ...admin,
      body: { rank_weight: 0.5, tags: null, interval_seconds: 60 },
    })
    expect(changed.json).toMatchObject({ rank_weight: 0.5, interval_seconds: 60, has_token: true, trust: 'none' })
    expect(changed.json.tags).toBeUndefined()
    await directory.restart()
    const [, north] = await list()
    expect(north).toMatchObject({ name: 'north', has_token: true, rank_weight: 0.5 })
    const audit = await directory.get('/admin/audit', admin)
    expect(audit.text).toContain('peer.add')
    for (const text of [added.text, changed.text, audit.text, JSON.stringify(await list())])
      expect(text).not.toMatch(/very-secret|config-secret/)
    expect((await directory.patch('/admin/peers/north', { ...admin, body: { token: null } })).json.has_token).toBe(
      false,
    )
    expect((await directory.delete('/admin/peers/north', admin)).status).toBe(204)
    expect((await directory.delete('/admin/peers/north', admin)).status).toBe(404)
    expect((await directory.patch('/admin/peers/north', { ...admin, body: {} })).status).toBe(404)
    expect(await list()).toHaveLength(1)
  })

  it.each([
    [{ name: 'a b', url: 'https://x.example' }, '/name'],
    [{ name: 'a' }, 'url'],
    [{ name: 'a', url: 'ftp://x.example' }, '/url'],
    [{ name: 'a', url: 'https://user:pw@x.example' }, '/url'],
    [{ name: 'a', url: 'http://10.0.0.1' }, '/url'],
    [{ name: 'a', url: 'http://169.254.169.254' }, '/url'],
    [{ name: 'a', url: 'https://x.example', trust: 'blind' }, '/trust'],
    [{ name: 'a', url: 'https://x.example', rank_weight: 2 }, '/rank_weight'],
    [{ name: 'a', url: 'https://x.example', protocol: 'profile' }, '/queries'],
  ])('are rejected if they are not valid: %j', async (body, place) => {
    const { status, text } = await directory.post('/admin/peers', { ...admin, body })
    expect(status).toBe(400)
    expect(text).toContain(place)
  })

  it('need the admin scope', async () => {
    for (const path of ['/admin/peers', '/admin/quarantine']) {
      expect((await directory.get(path)).status).toBe(401)
      expect((await directory.get(path, { as: 'tokA' })).status).toBe(403)
    }
  })

  it('of the config are checked at the start', async () => {
    const twice = { name: 'a', url: 'https://x.example' }
    await expect(startDirectory({ peers: [twice, twice] })).rejects.toThrow('used twice')
    await expect(startDirectory({ peers: [{ name: 'a', url: 'x.example' }] })).rejects.toThrow('url of "a"')
  })
})
