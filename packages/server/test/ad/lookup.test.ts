import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { lookUp, register } from './register.js'

const NAMES = ['ticket-classifier', 'knowledge-lookup', 'order-router', 'cdn-cache-manager', 'split', 'bare']

// Lookups change nothing: the same agents serve every test.
let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
  await register(directory, 'ticket-classifier', fixture('FX-TC'))
  await register(directory, 'knowledge-lookup', fixture('FX-KB'))
  await register(directory, 'order-router', fixture('FX-OR'))
  await register(directory, 'cdn-cache-manager', fixture('FX-CDN'))
  await register(directory, 'split', fixture('FX-SPLIT'))
  await register(directory, 'bare', { base: 'https://agents.example.com/bare' })
})
afterAll(() => directory.close())

describe('lookup filters', () => {
  it('AD-5-02 a lookup without filters returns every agent, in order of registration (C-56)', async () => {
    expect(await lookUp(directory)).toEqual(NAMES)
    await directory.post('/ad/r?agent=ticket-classifier', { as: 'tokA', body: fixture('FX-TC', { version: '2.0' }) })
    expect(await lookUp(directory)).toEqual(NAMES)
  })

  it('AD-5-01 are combined with AND', async () => {
    expect(await lookUp(directory, '?protocol=mcp&cap_type=tool')).toEqual([
      'ticket-classifier',
      'knowledge-lookup',
      'split',
    ])
    expect(await lookUp(directory, '?protocol=mcp&cap_type=skill')).toEqual(['split'])
    expect(await lookUp(directory, '?agent=order-router&protocol=mcp')).toEqual([])
    expect(await lookUp(directory, '?agent=order-router&protocol=a2a&cap_name=route_order')).toEqual(['order-router'])
  })

  it('AD-5.1-01 match registered values exactly', async () => {
    for (const query of ['cap_name=purge', 'cap_name=Purge_by_tag', 'agent=SPLIT', 'tag=NLP', 'cap_type=Tool']) {
      expect(await lookUp(directory, `?${query}`), query).toEqual([])
    }
    expect(await lookUp(directory, '?cap_name=purge_by_tag')).toEqual(['cdn-cache-manager'])
    expect(await lookUp(directory, '?agent=split')).toEqual(['split'])
    expect(await lookUp(directory, '?agent=')).toEqual([])
  })

  it('AD-5.1-08 protocol matches one of the agent’s protocols exactly (C-20)', async () => {
    expect(await lookUp(directory, '?protocol=mcp')).toEqual(['ticket-classifier', 'knowledge-lookup', 'split'])
    expect(await lookUp(directory, '?protocol=mcp/1.0')).toEqual(['split'])
    expect(await lookUp(directory, '?protocol=MCP')).toEqual([])
  })

  it('AD-5.1-09 cap_type matches the type of a capability', async () => {
    expect(await lookUp(directory, '?cap_type=skill')).toEqual(['split'])
    expect(await lookUp(directory, '?cap_type=prompt')).toEqual([])
  })

  it('AD-5.1-10 tag matches a tag of any capability', async () => {
    expect(await lookUp(directory, '?tag=nlp')).toEqual(['knowledge-lookup'])
    expect(await lookUp(directory, '?tag=search')).toEqual(['knowledge-lookup', 'split'])
  })

  it('AD-5.1-14 on capabilities must all match the same capability', async () => {
    expect(await lookUp(directory, '?cap_type=tool&tag=search')).toEqual(['knowledge-lookup'])
    expect(await lookUp(directory, '?cap_name=plain_tool&cap_type=skill')).toEqual([])
    expect(await lookUp(directory, '?cap_name=plain*&tag=search')).toEqual([])
    expect(await lookUp(directory, '?cap_name=find*&cap_type=skill&tag=search')).toEqual(['split'])
  })

  it('AD-5.1-15 with unknown names are ignored', async () => {
    const plain = await directory.get('/ad/l?protocol=mcp')
    const { status, json } = await directory.get('/ad/l?foo=bar&protocol=mcp&cap=x&Tag=none')
    expect(status).toBe(200)
    expect(json).toEqual(plain.json)
  })
})

describe('the wildcard *', () => {
  it('AD-5.1-02 at the end of agent or cap_name matches any suffix', async () => {
    expect(await lookUp(directory, '?cap_name=purge*')).toEqual(['cdn-cache-manager'])
    expect(await lookUp(directory, '?agent=tick*')).toEqual(['ticket-classifier'])
    expect(await lookUp(directory, '?cap_name=purge_by_tag*')).toEqual(['cdn-cache-manager'])
    expect(await lookUp(directory, '?agent=Tick*')).toEqual([])
  })

  it('AD-5.1-02 works percent-encoded too (C-98)', async () => {
    expect(await lookUp(directory, '?cap_name=purge%2A')).toEqual(['cdn-cache-manager'])
    expect(await lookUp(directory, '?agent=tick%2a')).toEqual(['ticket-classifier'])
  })

  it('AD-5.1-02 alone matches any name, or any agent with a capability (C-54)', async () => {
    expect(await lookUp(directory, '?agent=*')).toEqual(NAMES)
    expect(await lookUp(directory, '?cap_name=*')).toEqual(NAMES.filter((name) => name !== 'bare'))
  })

  it('AD-5.1-03 is rejected anywhere else in the value', async () => {
    for (const parameter of ['agent', 'cap_name']) {
      for (const value of ['a*b', '*a', 'a**', '**', '%2Aa', 'a%2A*']) {
        const answer = await directory.get(`/ad/l?${parameter}=${value}`)
        expectError(answer, { status: 400, code: 'invalid_request', member: `?${parameter}` }, value)
      }
    }
  })

  it('AD-5.1-06 is the only special character', async () => {
    for (const pattern of ['purge.%2B', 'purge_by_ta?', 'purge_by_ta[g]', 'purge.*', 'purge%25', '%5Epurge_by_tag$']) {
      expect(await lookUp(directory, `?cap_name=${pattern}`), pattern).toEqual([])
    }
  })

  it('AD-5.1-07 is an ordinary character in the other parameters', async () => {
    for (const query of ['tag=sea*', 'tag=*', 'protocol=mc*', 'protocol=*', 'cap_type=to*', 'cap_type=*']) {
      expect(await lookUp(directory, `?${query}`), query).toEqual([])
    }
    const href = await register(directory, 'starred', {
      base: 'https://agents.example.com/starred',
      capabilities: [{ name: 'x', type: 'tool', tags: ['sea*'] }],
    })
    expect(await lookUp(directory, '?tag=sea*')).toEqual(['starred'])
    await directory.delete(href, { as: 'tokA' })
  })
})

describe('a lookup entry', () => {
  it('AD-5.2-01 AD-5.2-02 has exactly the members needed to choose and contact an agent', async () => {
    const { json } = await directory.get('/ad/l?agent=knowledge-lookup')
    expect(json).toEqual({
      agents: [
        {
          agent: 'knowledge-lookup',
          base: 'https://agents.example.com/kb',
          description: 'Searches internal knowledge base.',
          protocols: ['mcp'],
          capabilities: [{ name: 'search_kb', type: 'tool' }],
          href: expect.stringMatching(/^\/ad\/r\/\d+$/),
        },
      ],
    })
    const split = (await directory.get('/ad/l?agent=split')).json.agents[0]
    expect(split).not.toHaveProperty('description')
  })

  it('AD-5.2-03 links to the full registration', async () => {
    const [entry] = (await directory.get('/ad/l?agent=knowledge-lookup')).json.agents
    const { status, json } = await directory.get(entry.href)
    expect(status).toBe(200)
    expect(json.capabilities).toEqual([{ name: 'search_kb', type: 'tool', tags: ['nlp', 'search'] }])
  })

  it('AD-5-02 is omitted while the agent is unavailable, which can still be read by id (C-21)', async () => {
    const body = aidipAgent({ id: 'resting', status: 'inactive' })
    await directory.post('/agents', { as: 'tokA', body })
    expect(await lookUp(directory, '?agent=resting')).toEqual([])
    expect((await directory.get('/agents/resting')).status).toBe(200)
    await directory.put('/agents/resting', { as: 'tokA', body: { ...body, status: 'deprecated' } })
    expect(await lookUp(directory, '?agent=resting')).toEqual(['resting'])
    await directory.patch('/admin/agents/resting', { as: 'admin', body: { status: 'suspended' } })
    expect(await lookUp(directory, '?agent=resting')).toEqual([])
    await directory.delete('/agents/resting', { as: 'tokA' })
  })
})
