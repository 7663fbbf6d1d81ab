import { type ClientError, createClient, type DirectoryClient } from '@switchboard/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import { DEMO_INFO, type Demo, startDemo } from '../src/index.js'

let directory: TestDirectory
let demo: Demo
let client: DirectoryClient

beforeAll(async () => {
  directory = await startDirectory()
  demo = await startDemo({ baseUrl: directory.url, token: directory.adminKey })
  client = createClient({ baseUrl: directory.url, token: directory.adminKey })
})
afterAll(async () => {
  await demo.close()
  await directory.close()
})

const call = (id: string, input = inputOf(id)) => {
  const { operation, key } = infoOf(id)
  return client.invoke(id, input, {
    ...(operation !== undefined && { operation }),
    ...(key !== undefined && { credentials: { type: 'api_key', key } }),
  })
}
function infoOf(id: string) {
  const found = DEMO_INFO.find((info) => info.id === id)
  if (!found) throw new Error(`no ${id}`)
  return found
}
const inputOf = (id: string) => infoOf(id).input

describe('the demo', () => {
  it('has a dozen agents, tagged demo', async () => {
    const { agents } = await client.search({ top: 50 })
    expect(agents.map(({ id }) => id).sort()).toEqual(DEMO_INFO.map(({ id }) => id).sort())
    expect(agents).toHaveLength(12)
    for (const { id, tags } of agents) expect(tags, id).toContain('demo')
  })

  it.each(DEMO_INFO)('$id is the first result for "$query"', async ({ id, query }) => {
    const { agents } = await client.search(query)
    expect(agents[0]?.id).toBe(id)
  })

  it.each([
    ['demo-translator', { text: 'buenos días, mi amigo', unknown: [] }],
    ['demo-units', { value: 42.1648128, unit: 'km' }],
    ['demo-weather', { city: 'Lisbon', month: 'May', temperature: 18, rain: 54, summary: 'mild and mostly dry' }],
    ['demo-summary', { summary: 'The light of a lighthouse is seen from far away.', kept: expect.any(Number) }],
    ['demo-sentiment', { sentiment: 'positive', score: 2 }],
    ['demo-text-statistics', { characters: 36, words: 6, sentences: 1 }],
    ['demo-phone-book', { name: 'Ben Okafor', department: 'Support', extension: '4112', room: 'A 011' }],
    ['demo-mehrwertsteuer', { netto: 100, steuer: 19, brutto: 119, prozent: 19 }],
  ])('%s responds', async (id, output) => {
    expect((await call(id)).output).toEqual(output)
  })

  it('knows the holidays, which depend on Easter', async () => {
    const { output } = await call('demo-holidays')
    expect(output).toContainEqual({ date: '2027-03-26', name: 'Sexta-feira Santa' })
    expect(output).toHaveLength(13)
  })

  it.each([
    [
      'demo-translator',
      { text: 'guten Morgen, Ann!', to: 'en', from: 'de' },
      { text: 'good morning, Ann!', unknown: ['Ann'] },
    ],
    ['demo-units', { value: 70, from: 'Fahrenheit', to: 'celsius' }, { value: 21.11111111, unit: 'celsius' }],
    ['demo-sentiment', { text: 'The soup was not good.' }, { sentiment: 'negative', score: -1 }],
  ])('%s with %o', async (id, input, output) => {
    expect((await call(id, input)).output).toEqual(output)
  })

  it('says what is wrong with an input', async () => {
    await expect(call('demo-units', { value: 1, from: 'miles', to: 'kg' })).rejects.toThrow(/miles is a unit of length/)
    await expect(call('demo-weather', { city: 'Oslo' })).rejects.toThrow(/use one of Athens/)
  })

  it('streams a story word by word', async () => {
    let text = ''
    let parts = 0
    for await (const { data } of client.stream('demo-storyteller', { hero: 'Mira' })) {
      text += Object(data).text
      if (++parts === 5) break
    }
    expect(text).toBe('Once upon a time, Mira ')
  })

  it('rejects callers of the phone book that have no key', async () => {
    await expect(client.invoke('demo-phone-book', { who: 'Ada' })).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('fails every third time where it should', async () => {
    const outcomes: string[] = []
    for (let i = 0; i < 3; i++) {
      outcomes.push(
        await call('demo-fortune').then(
          () => 'fortune',
          (error: ClientError) => error.code,
        ),
      )
    }
    expect(outcomes.sort()).toEqual(['fortune', 'fortune', 'remote_error'])
  })
})

describe('the slow agent of the demo', () => {
  const order = (body: object) => directory.post('/agents/demo-route-planner/invoke', { as: 'tokC', body: { ...body } })

  it('responds with a task, which is completed with a short route', async () => {
    const { output } = await call('demo-route-planner', { cities: ['Paris', 'Athens', 'London', 'Rome'], seconds: 1 })
    expect(output).toMatchObject({ kilometres: expect.any(Number) })
    expect(Object(output).route).toHaveLength(4)
    expect(Object(output).route[0]).toBe('Paris')
    expect(Object(output).kilometres).toBeLessThan(6200)
  })

  it('says how far it is, and can be cancelled', async () => {
    const { status, json } = await order({ seconds: 60 })
    expect(status).toBe(202)
    const path = `/tasks/${json.taskId}`
    await expect
      .poll(async () => (await directory.get(path, { as: 'tokC' })).json)
      .toMatchObject({
        status: 'running',
        progress: { fraction: expect.any(Number), message: expect.stringMatching(/^best so far: \d+ km$/) },
      })
    expect((await directory.delete(path, { as: 'tokC' })).json.status).toBe('cancelled')
  })
})

describe('at the end', () => {
  it('the demo removes its agents', async () => {
    const second = await startDirectory()
    const other = await startDemo({ baseUrl: second.url, token: second.adminKey })
    expect((await second.get('/agents?top=50')).json).toHaveLength(12)
    await other.close()
    expect((await second.get('/agents?top=50')).json).toEqual([])
    await second.close()
  })

  it('nothing is left if one of them cannot be registered', async () => {
    const second = await startDirectory()
    const body = {
      id: 'demo-units',
      name: 'x',
      description: 'x',
      capabilities: ['x'],
      endpoint: 'https://x.example',
      inputs: {},
      outputs: {},
    }
    await second.post('/agents', { as: 'tokA', body })
    const token = await second.makeKey({ subject: 'somebody', scopes: ['publish'] })
    await expect(startDemo({ baseUrl: second.url, token })).rejects.toMatchObject({ code: 'conflict' })
    expect((await second.get('/agents?top=50')).json.map(({ id }: { id: string }) => id)).toEqual(['demo-units'])
    await second.close()
  })
})
