import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory, type TestResponse } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'

const NOW = Date.parse('2026-01-01T00:00:00Z')

/** Characters of an agent that drops most records from memory, as parsed. */
const BULK = 150_000

const SIGNED =
  '{ "id": "signed", "name": "Signed",  "description": "Its text is returned as it is: \\u00e9.", "capabilities": ["probe"],' +
  ' "endpoint": "https://agents.example.net/signed", "inputs": {"text": "string"}, "outputs": {}, "signature":' +
  ' {"algorithm": "none", "value": "AAAA", "keyId": "did:web:agents.example.net#1"} }'

const AGENTS: JsonObject[] = [
  aidipAgent({ id: 'plain', tags: ['alpha'], 'x-note': { level: 7, of: ['a', 'b'] } }),
  fixture('FX-T01', { id: 'translator' }),
  aidipAgent({ id: 'partly', private: ['endpoint', 'x-secret'], 'x-secret': 'hidden', publisher: 'Example' }),
  aidipAgent({ id: 'hidden', visibility: 'private', description: 'Seen by its owner.' }),
]
const IDS = ['plain', 'translator', 'partly', 'hidden', 'signed']

const PATHS = [
  ...IDS.flatMap((id) => [
    ...['', '/agent.json', '/agent-card.json', '/agent-card.json?version=0.3'].map((end) => `/agents/${id}${end}`),
    `/discover/agents/${id}`,
  ]),
  ...[
    '/ad/r/1',
    '/ad/r/3',
    '/ad/r/4',
    '/ad/l',
    '/ad/l?protocol=https',
    '/ad/l?name=pro*',
    '/agents',
    '/agents?tags=alpha',
  ],
  ...[
    '/agents?x-note=7',
    '/agents?publisher=Example',
    '/agents?x-secret=hidden',
    '/v0/servers',
    '/.well-known/agents.json',
  ],
]

/** Without the address, what the directory signs with its own key, and the ids of requests: nothing else may differ. */
const textOf = ({ text }: TestResponse, { url }: TestDirectory): string =>
  text
    .replaceAll(url, 'URL')
    .replaceAll(new URL(url).host, 'HOST')
    .replaceAll(/"(protected|signature|correlation_id)":"[\w-]+"/g, '"$1":"…"')

describe('records that are not kept parsed', () => {
  let ours: TestDirectory
  let other: TestDirectory

  const on = async <T>(act: (directory: TestDirectory) => Promise<T>): Promise<[T, T]> => [
    await act(ours),
    await act(other),
  ]

  /** Registers a large agent and removes it again; in the other directory, a small one. */
  const drop = async (): Promise<void> => {
    for (const [directory, length] of [
      [ours, BULK],
      [other, 50],
    ] as const) {
      const body = aidipAgent({ id: 'bulk', description: 'word '.repeat(length / 5) })
      expect((await directory.post('/agents', { as: 'tokB', body })).status).toBe(201)
      expect((await directory.delete('/agents/bulk', { as: 'tokB' })).status).toBe(204)
    }
  }

  const compareAll = async (): Promise<void> => {
    for (const as of ['anon', 'tokA', 'admin'] as const) {
      for (const path of PATHS) {
        const [one, two] = await on((directory) => directory.get(path, { as }))
        expect(one.status, path).toBe(two.status)
        expect(textOf(one, ours), path).toBe(textOf(two, other))
      }
    }
  }

  beforeAll(async () => {
    ours = await startDirectory({}, { now: () => NOW })
    other = await startDirectory({}, { now: () => NOW })
    for (const body of AGENTS)
      for (const { status, text } of await on((directory) => directory.post('/agents', { as: 'tokA', body })))
        expect(status, text).toBe(201)
    for (const { status, text } of await on((directory) => directory.post('/agents', { as: 'tokA', raw: SIGNED })))
      expect(status, text).toBe(201)
  })
  afterAll(() => Promise.all([ours.close(), other.close()]))

  it('are shown byte for byte as if they had stayed parsed, to everybody', async () => {
    await drop()
    await compareAll()
    const { text } = await ours.get('/agents/hidden', { as: 'tokA' })
    expect(text).toContain('Seen by its owner.')
  })

  it('are updated, refreshed, marked and removed like others', async () => {
    await drop()
    const update = aidipAgent({ id: 'plain', tags: ['beta'], 'x-note': 8 })
    for (const { status } of await on((directory) => directory.put('/agents/plain', { as: 'tokA', body: update })))
      expect(status).toBe(200)
    await drop()
    // The same document again is only a refresh, in any notation.
    const same = fixture('FX-T01', { id: 'translator' })
    for (const { status } of await on((directory) => directory.post('/agents', { as: 'tokA', body: same })))
      expect(status).toBe(200)
    await drop()
    const mark = { quality_score: 0.5 }
    for (const { status, text } of await on((directory) =>
      directory.patch('/admin/agents/signed', { as: 'admin', body: mark }),
    ))
      expect(status, text).toBe(200)
    await drop()
    for (const { status } of await on((directory) => directory.delete('/agents/partly', { as: 'tokA' })))
      expect(status).toBe(204)
    await drop()
    await compareAll()
    const [found] = await on((directory) => directory.get('/agents?tags=beta'))
    expect(found.text).toContain('"plain"')
  })

  it('are the same after a restart', async () => {
    await ours.restart()
    await drop()
    await compareAll()
  })
})
