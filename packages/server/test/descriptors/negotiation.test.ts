import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { expectError } from '../support/errors.js'

// Reading changes nothing, so all tests share one agent.
let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
  await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'probe' }) })
})
afterAll(() => directory.close())

const PATHS = ['/agents/probe/agent.json', '/agents/probe/agent-card.json', '/.well-known/agent.json']
const JSON_TYPE = /^application\/json\b/

const typeOf = async (path: string, accept: string): Promise<string> => {
  const { status, headers } = await directory.get(path, { headers: { accept } })
  expect(status, `${path} ${accept}`).toBe(200)
  return headers.get('content-type') ?? ''
}

describe('a descriptor', () => {
  it('AURI-7-01 is application/json by default', async () => {
    for (const path of PATHS) {
      for (const accept of ['*/*', 'application/*', 'application/json', 'text/html, */*;q=0.1', '']) {
        expect(await typeOf(path, accept), `${path} ${accept}`).toMatch(JSON_TYPE)
      }
    }
  })

  it('AURI-7-03 is JSON-LD on request, with an @context', async () => {
    for (const path of PATHS) {
      expect(await typeOf(path, 'application/ld+json')).toMatch(/^application\/ld\+json\b/)
    }
    const { json } = await directory.get(PATHS[0] ?? '', { headers: { accept: 'application/ld+json' } })
    expect(json['@context']).toEqual(expect.any(String))
  })

  it('AURI-7-03 has separate cache entries for its media types', async () => {
    const plain = await directory.get('/agents/probe/agent.json')
    const linked = await directory.get('/agents/probe/agent.json', { headers: { accept: 'application/ld+json' } })
    expect(linked.headers.get('etag')).not.toBe(plain.headers.get('etag'))
    expect(linked.headers.get('vary')).toMatch(/Accept/)
  })

  it('AURI-7-01 is application/agent-card+json on request (C-86)', async () => {
    for (const path of PATHS) {
      expect(await typeOf(path, 'application/agent-card+json')).toMatch(/^application\/agent-card\+json\b/)
    }
  })

  it.each([
    ['application/ld+json;q=0.5, application/json', JSON_TYPE],
    ['application/json;q=0.5, application/ld+json', /^application\/ld\+json\b/],
    ['application/agent-card+json, */*;q=0.8', /^application\/agent-card\+json\b/],
    ['*/*, application/json;q=0', /^application\/agent-card\+json\b/],
    ['application/*;q=0.2, application/ld+json;q=0.9', /^application\/ld\+json\b/],
    ['APPLICATION/LD+JSON', /^application\/ld\+json\b/],
    ['application/ld+json; profile="https://example.org/p"', /^application\/ld\+json\b/],
  ])('AURI-7-01 has the type that "%s" prefers', async (accept, type) => {
    expect(await typeOf('/agents/probe/agent.json', accept)).toMatch(type)
  })

  it('AURI-7-01 returns 406 with the supported types if none is acceptable (C-69)', async () => {
    for (const path of PATHS) {
      for (const accept of ['application/fipa-acl', 'text/html', 'application/json;q=0', '*/*;q=0']) {
        const answer = await directory.get(path, { headers: { accept } })
        expectError(answer, { status: 406 }, `${path} ${accept}`)
        expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
        expect(answer.json.supported).toEqual([
          'application/json',
          'application/agent-card+json',
          'application/ld+json',
        ])
      }
    }
  })
})

describe('lists and metadata', () => {
  it('AURI-5-03 are JSON whatever Accept says (C-69)', async () => {
    for (const path of [
      '/.well-known/agents.json',
      '/agents',
      '/agents/probe',
      '/discover/agents/probe',
      '/discover',
    ]) {
      expect(await typeOf(path, 'text/html'), path).toMatch(JSON_TYPE)
    }
  })
})

describe('browsers', () => {
  it('AURI-5-03 may read descriptors from any origin, without credentials', async () => {
    for (const path of [...PATHS, '/.well-known/agents.json', '/.well-known/ad']) {
      const { headers } = await directory.get(path, { headers: { origin: 'https://app.example' } })
      expect(headers.get('access-control-allow-origin'), path).toBe('*')
      expect(headers.get('access-control-allow-credentials'), path).toBeNull()
    }
  })
})
