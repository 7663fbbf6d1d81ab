import { readFileSync } from 'node:fs'
import type { JsonObject } from '@switchboard/protocol'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestClock, type TestClock } from './support/clock.js'
import { startDirectory, type TestCaller, type TestDirectory } from './support/directory.js'
import { aidipAgent } from './support/documents.js'

const ajv = new Ajv({ strict: false, allErrors: true })
formats.default(ajv, { mode: 'full' })
const schemaOf = (path: string): JsonObject =>
  JSON.parse(readFileSync(new URL(`../../protocol/test-data/${path}`, import.meta.url), 'utf8'))
ajv.addSchema(schemaOf('mcp-server-json/server.schema.json'), 'server.schema.json')
ajv.addSchema(schemaOf('mcp-registry/registry.schema.json'), 'registry.schema.json')

/** What the official schema says against a response. */
function problemsOf(name: 'ServerList' | 'ServerResponse' | 'Error', value: unknown): unknown[] {
  const validate = ajv.getSchema(`registry.schema.json#/$defs/${name}`)
  if (!validate) throw new Error(`there is no schema ${name}`)
  return validate(value) ? [] : (validate.errors ?? [])
}

const OFFICIAL = 'io.modelcontextprotocol.registry/official'

let directory: TestDirectory
let clock: TestClock
beforeAll(async () => {
  clock = createTestClock()
  directory = await startDirectory({}, clock)
})
beforeEach(() => directory.clear())
afterAll(() => directory.close())

const server = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  description: 'Forecasts for cities.',
  version: '1.2.0',
  remotes: [{ type: 'streamable-http', url: 'https://mcp.example.net/weather' }],
  ...more,
})
const profile = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  name: id,
  description: 'Speaks MCP, and is described by the profile.',
  bindings: [{ protocol: 'mcp', endpoint: 'https://mcp.example.org/' }],
  ...more,
})
const publish = async (document: JsonObject, path = '/agents'): Promise<void> => {
  const { status, text } = await directory.post(path, { as: 'tokA', body: document })
  expect(status, text).toBe(201)
}
const publishProfile = (id: string, more?: JsonObject): Promise<void> => publish(profile(id, more), '/discover/agents')

/** A page of the list, which the official schema accepts. */
async function list(
  query = '',
  as: TestCaller = 'anon',
): Promise<{ names: string[]; servers: JsonObject[]; next: string; count: number }> {
  const { status, json, text } = await directory.get(`/v0.1/servers${query}`, { as })
  expect(status, text).toBe(200)
  expect(problemsOf('ServerList', json)).toEqual([])
  const { servers, metadata } = json
  expect(metadata.count).toBe(servers.length)
  const names = servers.map((each: { server: { name: string } }) => each.server.name)
  return { names, servers, next: metadata.nextCursor, count: metadata.count }
}
const pathOf = (name: string, version?: string): string =>
  `/v0.1/servers/${encodeURIComponent(name)}/versions${version === undefined ? '' : `/${encodeURIComponent(version)}`}`

describe('GET /v0.1/servers', () => {
  it('lists the agents that speak MCP, in a form that the official schema accepts', async () => {
    await publish(server('net.example/weather'))
    await publish(aidipAgent({ id: 'no-mcp', name: 'no-mcp' }))
    await publishProfile('planner')
    const { names, servers } = await list()
    expect(names).toEqual(['127.0.0.1/planner', 'net.example/weather'])
    expect(servers[1]).toMatchObject({
      server: { version: '1.2.0', remotes: [{ type: 'streamable-http', url: 'https://mcp.example.net/weather' }] },
      _meta: {
        [OFFICIAL]: {
          status: 'active',
          publishedAt: expect.any(String),
          updatedAt: expect.any(String),
          isLatest: true,
        },
      },
    })
  })

  it('makes a document of a publisher fit that does not follow the schema', async () => {
    await publish(
      server('weather', {
        title: 't'.repeat(150),
        description: `${'words '.repeat(30)}`,
        version: 'latest',
        packages: [{ registryType: 'npm', identifier: '@example/weather' }],
      }),
    )
    const { servers } = await list()
    expect(servers[0]).toMatchObject({
      server: {
        name: '127.0.0.1/weather',
        version: '0.0.0',
        packages: [{ identifier: '@example/weather', transport: { type: 'stdio' } }],
      },
    })
  })

  it('pages with a cursor that keeps the filters, as editors follow it', async () => {
    for (let i = 0; i < 5; i++) await publish(server(`net.example/weather-${i}`))
    await publish(server('net.example/other', { description: 'Something else.' }))
    const first = await list('?limit=2&version=latest&search=WEATHER')
    expect(first.names).toEqual(['net.example/weather-0', 'net.example/weather-1'])
    expect(first.next).toMatch(/^[\w-]+$/)
    // Visual Studio Code repeats neither the search nor the encoding.
    const second = await list(`?limit=2&version=latest&cursor=${first.next}`)
    expect(second.names).toEqual(['net.example/weather-2', 'net.example/weather-3'])
    // Paging goes on, whatever happens to the servers that were listed.
    await directory.delete(`/agents/${encodeURIComponent('net.example/weather-3')}`, { as: 'tokA' })
    const last = await list(`?limit=2&version=latest&cursor=${second.next}`)
    expect([last.names, last.next]).toEqual([['net.example/weather-4'], undefined])
    expect((await list('?limit=2&search=weather-4')).next).toBeUndefined()
  })

  it('finds servers by name, title and description, and by version', async () => {
    await publish(server('net.example/a', { title: 'Weather Service' }))
    await publish(server('net.example/b', { version: '2.0.0', description: 'Storms.' }))
    expect((await list('?search=weather%20SERV')).names).toEqual(['net.example/a'])
    expect((await list('?search=storm')).names).toEqual(['net.example/b'])
    expect((await list('?search=example/b')).names).toEqual(['net.example/b'])
    expect((await list('?version=2.0.0')).names).toEqual(['net.example/b'])
    expect((await list('?version=9.9.9')).names).toEqual([])
    expect((await list('?search=')).count).toBe(2)
  })

  it('lists what has changed since a time, also what is out of service', async () => {
    await publish(server('net.example/old'))
    clock.advance(60)
    const since = new Date(clock.now()).toISOString()
    clock.advance(60)
    await publish(server('net.example/new'))
    await publish(server('net.example/gone', { status: 'inactive' }))
    await publish(server('net.example/late', { status: 'deprecated' }))
    expect((await list()).names).toEqual(['net.example/late', 'net.example/new', 'net.example/old'])
    expect((await list('?include_deleted=true')).count).toBe(4)
    const { names, servers } = await list(`?updated_since=${encodeURIComponent(since)}`)
    expect(names).toEqual(['net.example/gone', 'net.example/late', 'net.example/new'])
    const states = servers.map(({ _meta }) => (_meta as Record<string, JsonObject>)[OFFICIAL]?.status)
    expect(states).toEqual(['deleted', 'deprecated', 'active'])
    expect((await directory.get(pathOf('net.example/gone', 'latest'))).status).toBe(404)
    expect((await directory.get(`${pathOf('net.example/gone', 'latest')}?include_deleted=true`)).status).toBe(200)
  })

  it('reveals nothing about agents that the caller may not see', async () => {
    await publish(server('net.example/a'))
    await publish(server('net.example/b'))
    const queries = ['', '?limit=1', '?search=e', '?updated_since=2020-01-01T00:00:00Z', '?include_deleted=true']
    const read = (as: TestCaller) => Promise.all(queries.map((query) => directory.get(`/v0.1/servers${query}`, { as })))
    const before = await read('tokB')
    await publish(server('net.example/hidden', { visibility: 'private' }))
    await publishProfile('half', {
      private: ['bindings'],
      bindings: [{ protocol: 'mcp', endpoint: 'https://secret.example.org/' }],
    })
    const after = await read('tokB')
    expect(after.map(({ text }) => text)).toEqual(before.map(({ text }) => text))
    for (const name of ['net.example/hidden', '127.0.0.1/half', 'net.example/absent'])
      for (const version of [undefined, 'latest', '1.2.0']) {
        const { status, json } = await directory.get(pathOf(name, version), { as: 'tokB' })
        expect([status, json.message]).toEqual([404, `there is no MCP server "${name}"`])
      }
    expect((await list('', 'tokA')).names).toEqual([
      '127.0.0.1/half',
      'net.example/a',
      'net.example/b',
      'net.example/hidden',
    ])
  })

  it('answers conditional requests, for each caller by what it sees', async () => {
    await publish(server('net.example/a'))
    const { headers } = await directory.get('/v0.1/servers')
    const tag = headers.get('etag') ?? ''
    const again = () => directory.get('/v0.1/servers', { headers: { 'if-none-match': tag } })
    expect((await again()).status).toBe(304)
    await publish(server('net.example/hidden', { visibility: 'private' }))
    expect((await again()).status).toBe(304)
    await publish(server('net.example/b'))
    expect((await again()).status).toBe(200)
    const one = await directory.get(pathOf('net.example/a', 'latest'))
    const unchanged = { headers: { 'if-none-match': one.headers.get('etag') ?? '' } }
    expect((await directory.get(pathOf('net.example/a', 'latest'), unchanged)).status).toBe(304)
  })

  it('is open to pages of other origins', async () => {
    const { headers } = await directory.get('/v0.1/servers', { headers: { origin: 'https://editor.example' } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })

  it.each([
    ['limit', '0'],
    ['cursor', 'x'],
    ['cursor', 'eyJhIjoxfQ'],
    ['search', 'x'.repeat(257)],
    ['updated_since', 'yesterday'],
    ['include_deleted', 'maybe'],
  ])('rejects a wrong %s', async (parameter, value) => {
    const { status, text } = await directory.get(`/v0.1/servers?${parameter}=${value}`)
    expect([status, text]).toEqual([400, expect.stringContaining(`?${parameter}`)])
  })
})

describe('GET /v0.1/servers/{name}/versions', () => {
  it('has the only version of a server, and the server as "latest"', async () => {
    await publish(server('net.example/weather'))
    await publish(server('net.example/weather-two', { version: '1.0.0+build' }))
    const versions = await directory.get(pathOf('net.example/weather'))
    expect(problemsOf('ServerList', versions.json)).toEqual([])
    expect(versions.json).toMatchObject({ servers: [{ server: { version: '1.2.0' } }], metadata: { count: 1 } })
    for (const version of ['latest', '1.2.0']) {
      const { status, json } = await directory.get(pathOf('net.example/weather', version))
      expect(status).toBe(200)
      expect(problemsOf('ServerResponse', json)).toEqual([])
      expect(json).toEqual(versions.json.servers[0])
    }
    expect((await directory.get(pathOf('net.example/weather-two', '1.0.0+build'))).status).toBe(200)
    const missing = await directory.get(pathOf('net.example/weather', '1.2.1'))
    expect(missing.status).toBe(404)
    expect(problemsOf('Error', missing.json)).toEqual([])
    expect(missing.json.error).toContain('has no version "1.2.1"')
  })

  it('follows changes and removals', async () => {
    await publish(server('net.example/weather'))
    expect((await list()).count).toBe(1)
    await directory.post('/agents', { as: 'tokA', body: server('net.example/weather', { version: '1.3.0' }) })
    expect((await list('?version=1.3.0')).names).toEqual(['net.example/weather'])
    await directory.delete(`/agents/${encodeURIComponent('net.example/weather')}`, { as: 'tokA' })
    expect((await list()).count).toBe(0)
    expect((await directory.get(pathOf('net.example/weather'))).status).toBe(404)
  })
})
