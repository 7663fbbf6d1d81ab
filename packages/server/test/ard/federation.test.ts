import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { checkEntry } from './conformance.js'

let north: TestDirectory
let reader: TestDirectory
let token: string

beforeAll(async () => {
  north = await startDirectory()
  token = await north.makeKey({ subject: 'reader', scopes: ['discover'] })
  const peer = { name: 'north', url: north.url, trust: 'full', token, intervalSeconds: 86_400 } as const
  reader = await startDirectory({ peers: [peer, { ...peer, name: 'shut', trust: 'none' }] })
  await vi.waitFor(
    async () => {
      const { json } = await reader.get('/admin/peers', { as: 'admin' })
      expect(json.peers[0].last_heard_at).toMatch(/./)
    },
    { timeout: 20_000 },
  )
  const describe = (description: string) => ({ description, tags: ['marsupials'] })
  for (const [directory, body] of [
    [reader, aidipAgent({ id: 'here', name: 'Here', ...describe('Reads quokka contracts.') })],
    // Registered after the peer was read, so that only a search at the peer finds it.
    [north, aidipAgent({ id: 'there', name: 'There', ...describe('Writes quokka contracts.') })],
  ] as const)
    expect((await directory.post('/agents', { as: 'tokA', body })).status).toBe(201)
})
afterAll(() => Promise.all([north, reader].map((directory) => directory.close())))

const search = async (more: JsonObject, filter: JsonObject = {}) =>
  (await reader.post('/ard/search', { body: { query: { text: 'quokka contracts', filter }, ...more } })).json
const namesOf = ({ results }: { results: { displayName: string }[] }) => results.map(({ displayName }) => displayName)

/** On a busy machine, the peer may miss its deadline. */
const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 20_000 })

it('asks the peers with "auto", which is the default, and returns their agents with the document (ARD 0.91 §5.4)', () =>
  eventually(async () => {
    const json = await search({})
    expect(namesOf(json).sort()).toEqual(['Here', 'There'])
    const remote = json.results.find(({ displayName }: { displayName: string }) => displayName === 'There')
    expect(remote).toMatchObject({ source: `${north.url}/ard/`, data: { name: 'There' } })
    expect(remote).not.toHaveProperty('url')
    expect(Number.isInteger(remote.score)).toBe(true)
    const report = { errors: [], warnings: [] }
    for (const entry of json.results) checkEntry(entry, report)
    expect(report.errors).toEqual([])
    expect(namesOf(await search({}, { tags: ['nothing'] }))).toEqual([])
    expect(namesOf(await search({}, { tags: ['marsupials'] })).sort()).toEqual(['Here', 'There'])
  }))

it('pages through the joined results', () =>
  eventually(async () => {
    const first = await search({ pageSize: 1 })
    const second = await search({ pageSize: 1, pageToken: first.pageToken })
    expect([...namesOf(first), ...namesOf(second)].sort()).toEqual(['Here', 'There'])
    expect(second).not.toHaveProperty('pageToken')
  }))

it('searches only here with "none"', async () => {
  const json = await search({ federation: 'none' })
  expect(namesOf(json)).toEqual(['Here'])
  expect(json).not.toHaveProperty('referrals')
})

it('names the peers that can be searched with "referrals", without their tokens or those that are not trusted', async () => {
  const json = await search({ federation: 'referrals' })
  expect(namesOf(json)).toEqual(['Here'])
  expect(json.referrals).toEqual([
    {
      identifier: 'urn:air:agent.localhost:registry:switchboard',
      displayName: 'north',
      type: 'application/ai-registry+json',
      url: `${north.url}/ard/search`,
    },
  ])
  expect(JSON.stringify(json)).not.toContain(token)
  const answer = await fetch(json.referrals[0].url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: { text: 'quokka contracts' } }),
  })
  expect(namesOf(JSON.parse(await answer.text()))).toEqual(['There'])
})
