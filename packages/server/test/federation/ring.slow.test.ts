import { readKeySet, verifyDocument } from '@switchboard/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestClock, type TestClock } from '../support/clock.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'

let clock: TestClock
let ring: TestDirectory[]

/** Each directory reads from the next one: 0 from 1, 1 from 2, 2 from 0. */
beforeEach(async () => {
  clock = createTestClock()
  ring = await Promise.all([0, 1, 2].map(() => startDirectory({}, clock)))
  await Promise.all(ring.map((_, i) => addPeer(i, i + 1)))
})
afterEach(() => Promise.all(ring.map((directory) => directory.close())))

const at = (i: number): TestDirectory => {
  const directory = ring[i % ring.length]
  if (!directory) throw new Error('the ring is not closed')
  return directory
}
const addPeer = (reader: number, origin: number, more = {}) =>
  at(reader).post('/admin/peers', {
    as: 'admin',
    body: { name: `to-${origin % 3}`, url: at(origin).url, trust: 'full', interval_seconds: 1, ...more },
  })
const register = (i: number, id: string, changes = {}) =>
  at(i).post('/agents', { as: 'tokA', body: aidipAgent({ id, name: id, ...changes }) })
const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 30_000, interval: 100 })
const listed = async (i: number): Promise<string[]> =>
  (await at(i).get('/agents?top=100')).json.map(({ id }: { id: string }) => id).toSorted()
const provenanceAt = async (i: number, id: string) => (await at(i).get(`/discover/agents/${id}`)).json.provenance

describe('three directories in a ring', () => {
  it('PROF-14-07 know each other’s agents once, with their origin, path and verified signature', async () => {
    for (const i of [0, 1, 2]) await register(i, `agent-${i}`)
    for (const i of [0, 1, 2])
      await eventually(async () => expect(await listed(i)).toEqual(['agent-0', 'agent-1', 'agent-2']))
    expect(await provenanceAt(0, 'agent-0')).toBeUndefined()
    expect(await provenanceAt(0, 'agent-1')).toMatchObject({ origin_service: at(1).url, path: [at(1).url] })
    expect(await provenanceAt(0, 'agent-2')).toMatchObject({
      origin_service: at(2).url,
      path: [at(2).url, at(1).url],
      origin_signature: { jws: expect.any(String), kid: expect.any(String) },
    })
    // What is passed on is still what the origin signed.
    const { json } = await at(0).get('/feed')
    const passed = json.agents.find(({ record }: { record: { id: string } }) => record.id === 'agent-2')
    expect(passed.path).toEqual([at(2).url, at(1).url, at(0).url])
    const keys = readKeySet((await at(2).get('/.well-known/jwks.json')).json)
    await expect(verifyDocument(passed.record, keys)).resolves.toMatchObject({ algorithm: 'EdDSA' })
    // Nobody accepts its own agents from others.
    for (const i of [0, 1, 2]) {
      const { json: admin } = await at(i).get('/admin/peers', { as: 'admin' })
      expect(admin.peers[0]).toMatchObject({ agents: { listed: 2 }, refused: 0 })
    }
  })

  it('pass on changes and removals, and lifetimes that end everywhere at the same time', async () => {
    await register(2, 'changing', { description: 'One.' })
    await at(2).post('/ad/r?agent=leased&lt=600', { as: 'tokA', body: fixture('FX-SUM') })
    await eventually(async () => expect(await listed(0)).toEqual(['changing', 'leased']))
    const end = (i: number) => at(i).get('/discover/agents/leased')
    expect((await end(0)).json.freshness).toEqual((await end(2)).json.freshness)
    await at(2).put('/agents/changing', { as: 'tokA', body: aidipAgent({ id: 'changing', description: 'Two.' }) })
    await eventually(async () => expect((await at(0).get('/agents/changing')).json.description).toBe('Two.'))
    await at(2).delete('/agents/changing', { as: 'tokA' })
    await eventually(async () => expect(await listed(0)).toEqual(['leased']))
    clock.advance(601)
    for (const i of [0, 1, 2]) await eventually(async () => expect(await listed(i)).toEqual([]))
  })

  it('prefer the shortest path, and use another one when it is lost', async () => {
    await register(2, 'twice')
    await eventually(async () => expect((await provenanceAt(0, 'twice')).path).toEqual([at(2).url, at(1).url]))
    await addPeer(0, 2)
    await eventually(async () => expect((await provenanceAt(0, 'twice')).path).toEqual([at(2).url]))
    expect(await listed(0)).toEqual(['twice'])
    await at(0).delete('/admin/peers/to-2', { as: 'admin' })
    await eventually(async () => expect((await provenanceAt(0, 'twice')).path).toEqual([at(2).url, at(1).url]))
    await at(0).delete('/admin/peers/to-1', { as: 'admin' })
    await eventually(async () => expect(await listed(0)).toEqual([]))
  })

  it('show the agent of another directory with the same id only when the first one is gone', async () => {
    await addPeer(0, 2)
    await register(2, 'same', { description: 'The first.' })
    await eventually(async () => expect(await listed(0)).toEqual(['same']))
    await register(1, 'same', { description: 'The second.' })
    await register(1, 'marker')
    await eventually(async () => expect(await listed(0)).toContain('marker'))
    const shown = async () => (await at(0).get('/agents/same')).json
    expect(await shown()).toMatchObject({ description: 'The first.', origin_service: at(2).url })
    await at(2).delete('/agents/same', { as: 'tokA' })
    await eventually(async () =>
      expect(await shown()).toMatchObject({ description: 'The second.', origin_service: at(1).url }),
    )
  })
})
