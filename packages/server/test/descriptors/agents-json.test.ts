import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const
const PATH = '/.well-known/agents.json'

const register = async (changes: Record<string, string>): Promise<void> => {
  const { status, text } = await directory.post('/agents', { ...tokA, body: aidipAgent(changes) })
  expect(status, text).toBe(201)
}

it('AURI-5-03 AURI-5.1-01 maps the names of all agents to URLs that work (C-84)', async () => {
  await directory.post('/agents', { ...tokA, body: fixture('FX-T01') })
  await directory.post('/discover/agents', { ...tokA, body: fixture('FX-HR') })
  await directory.post('/ad/r?agent=order-router', { ...tokA, body: fixture('FX-OR') })
  const { status, headers, json } = await directory.get(PATH)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(Object.keys(json)).toEqual(['agents'])
  const names = ['agent-12345', 'https://agents.example.net/id/hr-core-automator', 'order-router']
  expect(Object.keys(json.agents)).toEqual(names)
  for (const name of names) {
    const url = json.agents[name]
    expect(url).toBe(`${directory.url}/agents/${encodeURIComponent(name)}/agent.json`)
    const response = await fetch(url)
    expect(response.status, url).toBe(200)
    expect(await response.json()).toMatchObject({ id: name })
  }
})

it('AURI-5-03 is an empty map while no agent is registered', async () => {
  expect((await directory.get(PATH)).json).toEqual({ agents: {} })
})

it('AURI-5-03 lists agents that everybody may see and that are available (C-21, C-95)', async () => {
  await register({ id: 'open' })
  await register({ id: 'restricted', visibility: 'restricted' })
  await register({ id: 'hidden', visibility: 'private' })
  await register({ id: 'resting', status: 'inactive' })
  for (const as of ['anon', 'tokA', 'admin'] as const) {
    expect(Object.keys((await directory.get(PATH, { as })).json.agents), as).toEqual(['open', 'restricted'])
  }
})

it('AURI-5.1-08 has Cache-Control, ETag and Last-Modified', async () => {
  const { headers } = await directory.get(PATH)
  for (const name of ['cache-control', 'etag', 'last-modified']) expect(headers.get(name), name).toMatch(/./)
})

it('AURI-5.1-08 returns 304 to a conditional GET until an agent is added, changed or removed', async () => {
  const getIfChanged = async (tag: string): Promise<{ status: number; tag: string }> => {
    const { status, headers, text } = await directory.get(PATH, { headers: { 'if-none-match': tag } })
    if (status === 304) expect(text).toBe('')
    return { status, tag: headers.get('etag') ?? '' }
  }
  let { tag } = await getIfChanged('"none"')
  expect(await getIfChanged(tag)).toEqual({ status: 304, tag })
  expect((await getIfChanged(`"other", ${tag}`)).status).toBe(304)
  for (const change of [
    () => register({ id: 'probe' }),
    () => directory.put('/agents/probe', { ...tokA, body: aidipAgent({ status: 'inactive' }) }),
    () => directory.delete('/agents/probe', tokA),
  ]) {
    await change()
    const after = await getIfChanged(tag)
    expect(after.status).toBe(200)
    tag = after.tag
  }
})
