import { expect, it } from 'vitest'
import { isAgentEntry, ownIdentifier, readCatalog, withEntry } from './read-catalog.js'

const entry = (more: object = {}) => ({
  identifier: 'urn:air:acme.com:agent:a',
  displayName: 'A',
  type: 'application/a2a-agent-card+json',
  url: 'https://acme.com/a.json',
  ...more,
})
const read = (...entries: object[]) => readCatalog(JSON.parse(JSON.stringify({ entries })), 'https://acme.com/ard.json')

it('needs only entries (ARD 0.91 §5.1), and rejects other major versions (AI Catalog, Version Handling)', () => {
  expect(readCatalog({ entries: [] })).toEqual([])
  expect(readCatalog({ specVersion: '1.7', host: {}, entries: [] })).toEqual([])
  expect(readCatalog({ specVersion: '2.0', entries: [] })).toBeUndefined()
  expect(readCatalog({ agents: {} })).toBeUndefined()
})

it('takes exactly one of url and data (ARD 0.91 §4.3), and no registries', () => {
  expect(read(entry())).toHaveLength(1)
  expect(read(entry({ url: undefined, data: { name: 'x' } }))).toMatchObject([{ data: { name: 'x' } }])
  expect(read(entry({ data: {} }))).toEqual([])
  expect(read(entry({ url: undefined }))).toEqual([])
  expect(read(entry({ type: 'application/ai-registry+json' }))).toEqual([])
  expect(read(entry({ identifier: 7 }))).toEqual([])
})

it('resolves relative URLs and takes the latest version of an identifier', () => {
  expect(read(entry({ url: 'cards/a.json' }))?.[0]?.url).toBe('https://acme.com/cards/a.json')
  const versions = ['2.0.0', '2.1.0', '1.9'].map((version) => entry({ version, url: `/${version}.json` }))
  expect(read(...versions)).toMatchObject([{ url: 'https://acme.com/2.1.0.json' }])
})

it('knows which artifacts describe agents', () => {
  const isAgent = (type: string) => isAgentEntry({ identifier: 'x', type, queries: [], tags: [] })
  for (const type of ['application/a2a-agent-card+json', 'application/mcp-server-card+json', 'application/json'])
    expect(isAgent(type), type).toBe(true)
  for (const type of ['application/parquet', 'application/agent-skills+zip', 'text/markdown'])
    expect(isAgent(type), type).toBe(false)
})

it('adds example queries and tags to an artifact that has none, and nothing to a signed one', () => {
  const [first] = read(entry({ representativeQueries: ['a', 'b'], tags: ['t'] })) ?? []
  if (!first) throw new Error('not read')
  expect(withEntry({ name: 'x' }, first)).toEqual({ name: 'x', examples: [{ text: 'a' }, { text: 'b' }], tags: ['t'] })
  expect(withEntry({ tags: [], examples: [] }, first)).toEqual({ tags: [], examples: [] })
  expect(withEntry({ signatures: [] }, first)).toEqual({ signatures: [] })
  expect(ownIdentifier(first, 'acme.com')).toBe('urn:air:acme.com:agent:a')
  expect(ownIdentifier(first, 'other.example')).toBeUndefined()
})
