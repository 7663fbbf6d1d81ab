import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { lookUp, register } from './register.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const namesOf = ({ json }: TestResponse): string[] => json.agents.map(({ agent }: { agent: string }) => agent)
const nextOf = ({ headers }: TestResponse): string | undefined =>
  /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]

/** Names on each page, following the next links from a path. */
async function pages(path: string): Promise<string[][]> {
  const found: string[][] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const page: TestResponse = await directory.get(next)
    expect(page.status).toBe(200)
    found.push(namesOf(page))
    next = nextOf(page)
  }
  return found
}

/** Registers agent-000, agent-001 and so on by bulk import, which is faster. */
async function registerMany(count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `agent-${String(i).padStart(3, '0')}`)
  const raw = names.map((agent) => JSON.stringify({ agent, base: `https://agents.example.com/${agent}` })).join('\n')
  const { text } = await directory.post('/admin/import', { as: 'admin', raw })
  expect(text.match(/"status":"created"/g)).toHaveLength(count)
  return names
}

async function registerThree(): Promise<void> {
  await register(directory, 'ticket-classifier', fixture('FX-TC'))
  await register(directory, 'knowledge-lookup', fixture('FX-KB'))
  await register(directory, 'order-router', fixture('FX-OR'))
}

describe('the published examples', () => {
  beforeEach(registerThree)

  it('AD-B-03 B.2: a client looks up MCP agents', async () => {
    const { status, headers, json } = await directory.get('/ad/l?protocol=mcp', {
      headers: { accept: 'application/json' },
    })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json\b/)
    const href = expect.stringMatching(/^\/ad\/r\/\d+$/)
    expect(json).toEqual({
      agents: [
        {
          agent: 'ticket-classifier',
          base: 'https://agents.example.com/ticket-classifier',
          description: 'Classifies incoming support tickets.',
          protocols: ['mcp'],
          capabilities: [
            { name: 'classify_ticket', type: 'tool' },
            { name: 'suggest_priority', type: 'tool' },
          ],
          href,
        },
        {
          agent: 'knowledge-lookup',
          base: 'https://agents.example.com/kb',
          description: 'Searches internal knowledge base.',
          protocols: ['mcp'],
          capabilities: [{ name: 'search_kb', type: 'tool' }],
          href,
        },
      ],
    })
  })

  it('AD-B-04 AD-5.3-01 AD-5.3-02 B.3: one agent on each page', async () => {
    const first = await directory.get('/ad/l?protocol=mcp&cap_type=tool&count=1&page=0')
    expect(namesOf(first)).toEqual(['ticket-classifier'])
    expect(first.headers.get('link')).toBe('</ad/l?protocol=mcp&cap_type=tool&count=1&page=1>; rel="next"')
    const second = await directory.get('/ad/l?protocol=mcp&cap_type=tool&count=1&page=1')
    expect(namesOf(second)).toEqual(['knowledge-lookup'])
    expect(second.headers.get('link')).toBeNull()
  })
})

describe('pages', () => {
  it('AD-5.1-11 AD-5.3-02 start at 0, and are empty past the last one', async () => {
    await registerThree()
    expect(await lookUp(directory, '?page=0')).toEqual(await lookUp(directory))
    for (const query of ['?count=2', '?count=2&page=0']) {
      expect(namesOf(await directory.get(`/ad/l${query}`)), query).toEqual(['ticket-classifier', 'knowledge-lookup'])
    }
    expect(namesOf(await directory.get('/ad/l?count=2&page=1'))).toEqual(['order-router'])
    const past = await directory.get('/ad/l?page=99')
    expect(past.json).toEqual({ agents: [] })
    expect(past.headers.get('link')).toBeNull()
  })

  it('AD-5.1-11 page and count must be whole numbers', async () => {
    for (const page of ['-1', 'x', '1.5', '', '1e2', '0x1']) {
      expectError(await directory.get(`/ad/l?page=${page}`), { status: 400, member: '?page' }, page)
    }
    for (const count of ['0', '-1', 'x', '1.5', '']) {
      expectError(await directory.get(`/ad/l?count=${count}`), { status: 400, member: '?count' }, count)
    }
  })

  it('AD-5.1-12 AD-5.1-13 AD-5.3-03 have 100 agents by default and at most, and list each agent once', async () => {
    const names = await registerMany(150)
    const first = await directory.get('/ad/l')
    expect(namesOf(first)).toEqual(names.slice(0, 100))
    expect(nextOf(first)).toBe('/ad/l?page=1')
    expect(await pages('/ad/l')).toEqual([names.slice(0, 100), names.slice(100)])
    expect(await pages('/ad/l?count=100000')).toEqual([names.slice(0, 100), names.slice(100)])
    const fifties = await pages('/ad/l?count=50')
    expect(fifties.map((page) => page.length)).toEqual([50, 50, 50])
    expect(fifties.flat()).toEqual(names)
  })

  it('AD-5.3-03 with seven agents each list every agent once, in a stable order', async () => {
    const names = await registerMany(20)
    expect((await pages('/ad/l?count=7')).flat()).toEqual(names)
    expect((await pages('/ad/l?agent=agent-01*&count=3')).flat()).toEqual(names.slice(10))
  })
})

describe('the next link', () => {
  it('AD-5.3-01 is relative, keeps the filters in their order and drops unknown parameters (C-55)', async () => {
    await registerThree()
    const next = async (query: string): Promise<string | undefined> => nextOf(await directory.get(`/ad/l?${query}`))
    expect(await next('count=1&foo=bar&page=0&protocol=mcp')).toBe('/ad/l?count=1&protocol=mcp&page=1')
    expect(await next('agent=*&count=2')).toBe('/ad/l?agent=*&count=2&page=1')
    expect(await pages('/ad/l?cap_name=%2A&count=2')).toEqual([
      ['ticket-classifier', 'knowledge-lookup'],
      ['order-router'],
    ])
  })

  it('AD-5.3-01 percent-encodes values that need it', async () => {
    for (const name of ['a', 'b']) {
      const capabilities = [{ name: 'x & y/z', type: 'tööl' }]
      await register(directory, name, { base: 'https://agents.example.com/', capabilities })
    }
    const query = `cap_name=${encodeURIComponent('x & y/z')}&cap_type=${encodeURIComponent('tööl')}&count=1`
    expect(await pages(`/ad/l?${query}`)).toEqual([['a'], ['b']])
  })

  it('AD-8.4-01 counts only agents visible to the caller', async () => {
    const base = 'https://agents.example.com/a'
    await register(directory, 'open', { base })
    for (const name of ['hidden-1', 'hidden-2']) await register(directory, name, { base, visibility: 'private' })
    await register(directory, 'open-too', { base })
    await register(directory, 'hidden-3', { base, visibility: 'private' })
    const first = await directory.get('/ad/l?count=1')
    expect({ names: namesOf(first), next: nextOf(first) }).toEqual({ names: ['open'], next: '/ad/l?count=1&page=1' })
    const second = await directory.get('/ad/l?count=1&page=1')
    expect({ names: namesOf(second), next: nextOf(second) }).toEqual({ names: ['open-too'], next: undefined })
    const filtered = await directory.get('/ad/l?agent=hidden*')
    expect(filtered.json).toEqual({ agents: [] })
    const own = await directory.get('/ad/l?count=4', { as: 'tokA' })
    expect(namesOf(own)).toEqual(['open', 'hidden-1', 'hidden-2', 'open-too'])
    expect(nextOf(own)).toBe('/ad/l?count=4&page=1')
  })
})

describe('a conditional lookup', () => {
  const ifChangedSince = (answer: TestResponse, as: 'anon' | 'tokC' = 'anon') => ({
    as,
    headers: { 'if-none-match': answer.headers.get('etag') ?? 'none' },
  })

  it('AD-5-02 returns 304 until something in the list changes', async () => {
    const href = await register(directory, 'worker', fixture('FX-OR'))
    let known = await directory.get('/ad/l')
    const same = await directory.get('/ad/l', ifChangedSince(known))
    expect({ status: same.status, text: same.text }).toEqual({ status: 304, text: '' })
    const changes = [
      () => directory.post(href, { as: 'tokA', body: { description: 'Routes orders to other places.' } }),
      () => directory.patch('/admin/agents/worker', { as: 'admin', body: { status: 'suspended' } }),
      () => directory.patch('/admin/agents/worker', { as: 'admin', body: { status: null } }),
      () => directory.delete(href, { as: 'tokA' }),
    ]
    for (const change of changes) {
      await change()
      const after = await directory.get('/ad/l', ifChangedSince(known))
      expect(after.status).toBe(200)
      expect(after.json).not.toEqual(known.json)
      known = after
    }
  })

  it('AD-7.2-01 returns the list for another caller or after a grant', async () => {
    await register(directory, 'hidden', { base: 'https://agents.example.com/a', visibility: 'private' })
    const known = await directory.get('/ad/l', { as: 'tokC' })
    expect(known.json.agents).toEqual([])
    expect((await directory.get('/ad/l', { ...ifChangedSince(known), as: 'tokA' })).json.agents).toHaveLength(1)
    const body = { subject: 'tokC', agent: 'hidden', scopes: ['discover'] }
    await directory.post('/admin/grants', { as: 'admin', body })
    expect((await directory.get('/ad/l', ifChangedSince(known, 'tokC'))).json.agents).toHaveLength(1)
  })

  it('AD-5-02 ignores If-Modified-Since alone: seconds are too coarse', async () => {
    const known = await directory.get('/ad/l')
    await register(directory, 'worker', fixture('FX-OR'))
    const headers = { 'if-modified-since': known.headers.get('last-modified') ?? '' }
    expect(namesOf(await directory.get('/ad/l', { headers }))).toEqual(['worker'])
  })
})
