import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KINDS, registryFacts, sentDocument } from '../../../test/arbitraries.js'
import { fixture } from '../../../test/fixtures.js'
import type { JsonObject } from '../../json.js'
import { readRecord } from '../read.js'
import type { RegistryFacts } from '../record.js'
import { DIRECTORY_META, serverName, speaksMcp, toMcpServer } from './mcp-server.js'

const ajv = new Ajv({ strict: false, allErrors: true })
formats.default(ajv, { mode: 'full' })
const schemaFile = new URL('../../../test-data/mcp-server-json/server.schema.json', import.meta.url)
const validate = ajv.compile(JSON.parse(readFileSync(schemaFile, 'utf8')))
const problemsOf = (document: JsonObject): unknown[] => (validate(document) ? [] : (validate.errors ?? []))

const FACTS: RegistryFacts = {
  baseUrl: 'https://directory.example',
  number: 7,
  verification: { state: 'self-asserted' },
  lifetime: 600,
  receivedAt: 0,
  modifiedAt: 0,
}

const profile = (changes: JsonObject, id = 'weather') =>
  readRecord(
    'profile',
    {
      name: 'Weather',
      description: 'Forecasts.',
      bindings: [{ protocol: 'mcp', endpoint: 'https://w.example/mcp' }],
      ...changes,
    },
    id,
  )

describe('a derived server.json', () => {
  it('has the name, remotes and version that the official schema asks for', () => {
    const server = toMcpServer(readRecord('directory', fixture('FX-TC'), 'ticket-classifier'), FACTS)
    expect(server).toMatchObject({
      $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      name: 'example.directory/ticket-classifier',
      remotes: [{ type: 'streamable-http', url: 'https://agents.example.com/ticket-classifier' }],
      websiteUrl: 'https://directory.example/agents/ticket-classifier',
      _meta: { [DIRECTORY_META]: { id: 'ticket-classifier', verification: { state: 'self-asserted' } } },
    })
    expect(server).not.toHaveProperty('verification')
    expect(problemsOf(server)).toEqual([])
  })

  it.each(KINDS.filter((kind) => kind !== 'mcp'))('of a document of the kind %s passes the official schema', (kind) => {
    fc.assert(
      fc.property(sentDocument(kind), registryFacts, (sent, facts) => {
        const server = toMcpServer(readRecord(sent.format, sent.document, sent.id), facts)
        expect(problemsOf(server)).toEqual([])
      }),
      { numRuns: 40 },
    )
  })

  it('keeps what the schema has no place or no room for as data of the publisher', () => {
    const description = `Forecasts for cities all over the world, ${'and for the sea, '.repeat(6)}hour by hour.`
    const server = toMcpServer(profile({ description, tags: ['rain'], repository: 'none' }), FACTS)
    expect(server.description).toBe(
      'Forecasts for cities all over the world, and for the sea, and for the sea, and for the sea, and…',
    )
    expect(server._meta).toMatchObject({
      'io.modelcontextprotocol.registry/publisher-provided': { description, tags: ['rain'], repository: 'none' },
    })
    expect(server).not.toHaveProperty('repository')
    expect(problemsOf(server)).toEqual([])
  })

  it.each([
    ['1.2.3', '1.2.3'],
    ['2026-07-28', '2026-07-28'],
    ...['^1.2.3', '~1.2', '>=1.0', '1.x', '1.*', 'latest', '', '1 || 2', 'v'.repeat(256)].map((text) => [
      text,
      '0.0.0',
    ]),
  ])('has an exact version: %s becomes %s', (version, expected) => {
    expect(toMcpServer(profile({ version }), FACTS).version).toBe(expected)
  })

  it('describes an agent without a description by its name', () => {
    expect(toMcpServer(profile({ description: ' ' }), FACTS).description).toBe('Weather')
  })

  it('is what was sent if the agent was registered with one, apart from what the directory says in _meta', () => {
    const sent = {
      name: 'no-namespace',
      description: 'x'.repeat(300),
      version: 'latest',
      remotes: [{ type: 'streamable-http', url: 'https://{t}.example/mcp', variables: { t: { isRequired: true } } }],
      _meta: { 'com.example/x': { a: 1 } },
      verification: 'my own member',
    }
    const { _meta, ...rest } = toMcpServer(readRecord('mcp', sent, 'no-namespace'), FACTS)
    const { _meta: sentMeta, ...sentRest } = sent
    expect(rest).toEqual(sentRest)
    expect(_meta).toEqual({
      ...sentMeta,
      [DIRECTORY_META]: { id: 'no-namespace', verification: { state: 'self-asserted' } },
    })
  })
})

describe('the name of a server', () => {
  it.each([
    ['io.github.user/weather', 'io.github.user/weather'],
    ['weather', 'example.directory/weather'],
    ['my_agent', 'example.directory/my_agent'],
    ['my_beer', 'example.directory/my_5fbeer'],
    ['https://a.example/x', 'example.directory/https_3a_2f_2fa.example_2fx'],
    ['翻', 'example.directory/_e7_bf_bb'],
    // Otherwise it would be the name of the agent `weather`.
    ['example.directory/weather', 'example.directory/example.directory_2fweather'],
  ])('for the id %s is %s', (id, name) => {
    expect(serverName(id, FACTS.baseUrl)).toBe(name)
  })

  it('differs for different ids, however long they are', () => {
    const ids = ['a/b', 'a_2fb', 'a_b', 'a b', 'A b', 'a%20b', '_2f', '/', `${'x'.repeat(500)}1`, `${'x'.repeat(500)}2`]
    const names = ids.map((id) => serverName(id, FACTS.baseUrl))
    expect(new Set(names).size).toBe(ids.length)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]{1,190}$/)
  })

  it('is in the namespace of the directory, also without a domain', () => {
    expect(serverName('x', 'http://127.0.0.1:8040')).toBe('127.0.0.1/x')
    expect(serverName('x', 'http://[::1]:8040')).toBe('---1-/x')
    expect(serverName('x', 'http://localhost:8040')).toBe('localhost/x')
  })
})

describe('speaksMcp', () => {
  it.each([
    [[{ protocol: 'mcp', endpoint: 'https://w.example/mcp' }], true],
    [[{ protocol: 'MCP/2026-07-28', endpoint: '/mcp' }], true],
    [[{ protocol: 'https', endpoint: 'https://w.example/mcp' }], false],
    [[{ protocol: 'mcp', endpoint: 'unix:/run/mcp.sock' }], false],
    [[], false],
  ])('%j: %j', (bindings, expected) => {
    expect(speaksMcp(profile({ bindings }))).toBe(expected)
  })

  it('is true for an agent that was registered with a server.json, which may list packages only', () => {
    expect(speaksMcp(readRecord('mcp', { name: 'a/b', description: 'x', version: '1' }, 'a/b'))).toBe(true)
  })
})
