import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JsonObject, validateDocument } from '@switchboard/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { ADMIN_KEY, type ServerProcess, startServer, temporaryFolder } from './support/process.js'

const ROUNDS = 20
const CLIENTS = 32
/** Ids of each client; few, so that they are updated, removed and registered again. */
const IDS = 6

/** The expected state of an id: the last acknowledged write, and one that may have happened without a response. */
interface Known {
  /** Marker of the last acknowledged content; undefined if not registered. */
  marker: number | undefined
  /** The last write without a response. */
  pending: { marker: number | undefined } | undefined
}

const folder = temporaryFolder()
afterAll(folder.remove)

const known = new Map<string, Known>()
let markers = 0

/** Long enough to span database pages, and different for each marker. */
const paddingOf = (marker: number): string => `${marker} `.repeat(300)
const contentOf = (marker: number): JsonObject => ({ marker, padding: paddingOf(marker), description: `v${marker}` })

/** A registration with a whole document in each draft's format. */
const REGISTRATIONS: readonly ((id: string, marker: number) => { method: string; path: string; body: JsonObject })[] = [
  (id, marker) => ({ method: 'POST', path: '/agents', body: aidip(id, marker) }),
  (id, marker) => ({ method: 'POST', path: '/v0/agents', body: aidip(id, marker) }),
  (id, marker) => ({
    method: 'POST',
    path: '/discover/agents',
    body: {
      id,
      name: id,
      sequence: marker,
      bindings: [{ protocol: 'https', endpoint: 'https://a.example' }],
      ...contentOf(marker),
    },
  }),
  (id, marker) => ({
    method: 'POST',
    path: `/ad/r?agent=${id}`,
    body: { base: 'https://a.example', ...contentOf(marker) },
  }),
]
const aidip = (id: string, marker: number): JsonObject => ({
  id,
  name: id,
  capabilities: ['x'],
  endpoint: 'https://a.example',
  inputs: { text: 'string' },
  outputs: { text: 'string' },
  ...contentOf(marker),
})

const pick = <T>(list: readonly T[]): T => {
  const chosen = list[Math.floor(Math.random() * list.length)]
  if (chosen === undefined) throw new Error('nothing to choose from')
  return chosen
}

async function send(url: string, method: string, path: string, body?: JsonObject): Promise<Response> {
  const response = await fetch(url + path, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response
}

/** Registers, updates and removes until the server is gone; records each acknowledged write. */
async function storm(url: string, client: number, killed: () => boolean, begun: () => void): Promise<number> {
  const ids = Array.from({ length: IDS }, (_, i) => `c${client}-${i}`)
  const numbers = new Map<string, string>()
  for (let acknowledged = 0; ; acknowledged++) {
    const id = pick(ids)
    const state = known.get(id) ?? { marker: undefined, pending: undefined }
    known.set(id, state)
    const remove = state.marker !== undefined && Math.random() < 0.2
    const marker = remove ? undefined : ++markers
    state.pending = { marker }
    try {
      if (marker === undefined) {
        await (await send(url, 'DELETE', numbers.get(id) ?? `/agents/${id}`)).text()
        numbers.delete(id)
      } else await change(url, id, marker, state.marker !== undefined, numbers)
    } catch (error) {
      if (killed()) return acknowledged
      throw error
    }
    state.marker = marker
    state.pending = undefined
    begun()
  }
}

async function change(
  url: string,
  id: string,
  marker: number,
  exists: boolean,
  numbers: Map<string, string>,
): Promise<void> {
  const number = numbers.get(id)
  const how = Math.random()
  if (exists && number !== undefined && how < 0.3) {
    await (await send(url, 'POST', number, contentOf(marker))).text()
  } else if (exists && how < 0.6) {
    await (await send(url, 'PUT', `/agents/${id}`, aidip(id, marker))).text()
  } else {
    const { method, path, body } = pick(REGISTRATIONS)(id, marker)
    const response = await send(url, method, path, body)
    await response.text()
    const location = response.headers.get('location') ?? ''
    if (location.startsWith('/ad/')) numbers.set(id, location)
  }
}

/** Every agent that the server lists, by id. */
async function listAll(url: string): Promise<Map<string, JsonObject>> {
  const all = new Map<string, JsonObject>()
  for (let skip = 0; ; skip += 100) {
    const page = await send(url, 'GET', `/agents?include_metadata=true&shape=array&top=100&skip=${skip}`)
    const documents: (JsonObject & { id: string })[] = JSON.parse(await page.text())
    for (const document of documents) all.set(document.id, document)
    if (documents.length < 100) return all
  }
}

/** Compares the restarted server with the acknowledged writes; its state is the expected one from then on. */
async function check(url: string, round: number): Promise<void> {
  const stored = await listAll(url)
  for (const [id, state] of known) {
    const document = stored.get(id)
    const marker = document === undefined ? undefined : Number(document.marker)
    const allowed = state.pending ? [state.marker, state.pending.marker] : [state.marker]
    expect(allowed, `round ${round}: ${id} has ${marker}`).toContain(marker)
    if (marker !== undefined) expect(document, id).toMatchObject(contentOf(marker))
    known.set(id, { marker, pending: undefined })
    stored.delete(id)
  }
  expect([...stored.keys()], `round ${round}: never registered`).toEqual([])
  const ready = JSON.parse(await (await send(url, 'GET', '/health/ready')).text())
  expect(ready.index.agents).toBe([...known.values()].filter(({ marker }) => marker !== undefined).length)
}

/** Checks that the agent is valid in every draft's format, with the same content. */
async function checkFormats(url: string, id: string, marker: number): Promise<void> {
  const read = async (path: string): Promise<JsonObject> => JSON.parse(await (await send(url, 'GET', path)).text())
  const found = await read(`/ad/l?agent=${id}`)
  const [entry] = Array.isArray(found.agents) ? found.agents : []
  const { href } = JSON.parse(JSON.stringify(entry))
  const views = [
    ['aidip', `/agents/${id}`],
    ['aidip', `/v0/agents/${id}`],
    ['profile', `/discover/agents/${id}`],
    ['directory', href],
    ['descriptor', `/agents/${id}/agent.json`],
    ['a2a', `/agents/${id}/agent-card.json`],
  ] as const
  for (const [format, path] of views) {
    const document = await read(path)
    const { description, ...others } = contentOf(marker)
    // The card is the directory's own, which keeps no unknown members.
    expect(document, `${path} ${marker}`).toMatchObject({ description, ...(format !== 'a2a' && others) })
    expect(validateDocument(format, document), path).toEqual([])
  }
}

/** Lines of stderr, without the hints where to go, which are indented. */
const problemsIn = (stderr: string): string[] => stderr.split('\n').filter((line) => /^\S/.test(line))

describe('kill -9', () => {
  it('AIDIP-4.1-02 loses no acknowledged write and serves no partial write', async () => {
    const config = join(folder.path, 'config.json')
    const limits = { search: 1e9, register: 1e9, lookup: 1e9, invoke: 1e9 }
    writeFileSync(config, JSON.stringify({ rateLimits: limits, logLevel: 'error' }))
    const args = ['--data', join(folder.path, 'data'), '--config', config]
    let server: ServerProcess = await startServer(args)
    let acknowledged = 0
    for (let round = 1; round <= ROUNDS; round++) {
      let killed = false
      let clients: Promise<number>[] = []
      // A slow machine needs time to start; the clock runs from the first acknowledgement.
      await new Promise<void>((begun) => {
        clients = Array.from({ length: CLIENTS }, (_, i) => storm(server.url, i, () => killed, begun))
      })
      await sleep(100 + Math.random() * 300)
      killed = true
      await server.stop('SIGKILL')
      acknowledged += (await Promise.all(clients)).reduce((sum, n) => sum + n, 0)
      expect(problemsIn(server.stderr())).toEqual([])
      server = await startServer(args)
      await check(server.url, round)
    }
    expect(acknowledged).toBeGreaterThan(ROUNDS * 5)
    const alive = [...known].flatMap(([id, { marker }]) => (marker === undefined ? [] : [{ id, marker }]))
    for (const { id, marker } of alive.slice(0, 40)) await checkFormats(server.url, id, marker)
    expect((await server.stop()).code).toBe(0)
  })
})
