import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { fixture } from '../support/documents.js'
import { lookUp, register } from './register.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

/** RFC 6570 form-style expansion, as far as `{?a,b}` needs it. */
function expand(template: string, values: Record<string, string>): string {
  return template.replace(/\{\?([\w,]+)\}/, (_all, names: string) => {
    const encode = (text: string): string =>
      encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    const pairs = names.split(',').flatMap((name) => {
      const value = values[name]
      return value === undefined ? [] : [`${name}=${encode(value)}`]
    })
    return pairs.length > 0 ? `?${pairs.join('&')}` : ''
  })
}

it('AD-3.1-01 AD-3.1-02 AD-3.1-03 AD-3.1-04 describes the directory to anybody at the well-known path', async () => {
  const { status, headers, json } = await directory.get('/.well-known/ad')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(json).toEqual({
    registration: '/ad/r',
    lookup: '/ad/l{?agent,protocol,cap_name,cap_type,tag,page,count}',
    max_count: 100,
  })
})

it('AD-3.1-02 accepts registrations at the path in the description', async () => {
  const { json } = await directory.get('/.well-known/ad')
  const { status } = await directory.post(`${json.registration}?agent=order-router`, {
    as: 'tokA',
    body: fixture('FX-OR'),
  })
  expect(status).toBe(201)
})

it('AD-3.1-03 answers every expansion of the lookup template, percent-encoded wildcards included (C-98)', async () => {
  await register(directory, 'cdn-cache-manager', fixture('FX-CDN'))
  await register(directory, 'knowledge-lookup', fixture('FX-KB'))
  const { json } = await directory.get('/.well-known/ad')
  const found = async (values: Record<string, string>): Promise<string[]> => {
    const answer = await directory.get(expand(json.lookup, values))
    return answer.json.agents.map(({ agent }: { agent: string }) => agent)
  }
  expect(expand(json.lookup, { cap_name: 'purge*' })).toBe('/ad/l?cap_name=purge%2A')
  expect(await found({})).toEqual(['cdn-cache-manager', 'knowledge-lookup'])
  expect(await found({ cap_name: 'purge*' })).toEqual(['cdn-cache-manager'])
  expect(await found({ agent: 'know*', protocol: 'mcp', cap_name: 'search_kb', cap_type: 'tool', tag: 'nlp' })).toEqual(
    ['knowledge-lookup'],
  )
  expect(await found({ page: '1', count: '1' })).toEqual(['knowledge-lookup'])
})

it('AD-1-01 AD-1-02 finds an agent by capability with a plain GET, without knowing its name', async () => {
  await register(directory, 'summarizer-v2', fixture('FX-SUM'))
  const response = await fetch(`${directory.url}/ad/l?cap_name=summarize`)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ agents: [{ agent: 'summarizer-v2' }] })
})

it('AD-2.2-03 returns an empty list while no agent is registered', async () => {
  const { status, json, headers } = await directory.get('/ad/l')
  expect({ status, json }).toEqual({ status: 200, json: { agents: [] } })
  expect(headers.get('link')).toBeNull()
})

it('AD-9-01 returns JSON whatever Accept says, and errors as problem+json', async () => {
  const href = await register(directory, 'order-router', fixture('FX-OR'))
  for (const path of ['/.well-known/ad', '/ad/l', href]) {
    const { status, headers } = await directory.get(path, { headers: { accept: 'text/html' } })
    expect(status, path).toBe(200)
    expect(headers.get('content-type'), path).toMatch(/^application\/json\b/)
  }
  const { headers } = await directory.get('/ad/r/999999', { headers: { accept: 'text/html' } })
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
})

it('AD-F-01 has no resources for single capabilities', async () => {
  const href = await register(directory, 'order-router', fixture('FX-OR'))
  for (const path of [`${href}/capabilities`, `${href}/capabilities/route_order`]) {
    const { status, headers } = await directory.get(path)
    expect(status, path).toBe(404)
    expect(headers.get('content-type'), path).toMatch(/^application\/problem\+json\b/)
  }
})

it('AD-9-01 rejects other methods with 405 and Allow', async () => {
  const { status, headers } = await directory.post('/ad/l', { as: 'tokA', body: {} })
  expect(status).toBe(405)
  expect(headers.get('allow')).toContain('GET')
  expect(await lookUp(directory)).toEqual([])
})
