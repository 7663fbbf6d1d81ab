import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JsonObject, signDocument } from '@switchboard/protocol'
import { expect, vi } from 'vitest'
import type { TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'

/** Milliseconds that a pull may take on a busy machine. */
export const PATIENCE = { timeout: 50_000, interval: 50 }

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A directory that follows no rule. It has keys of its own, and a feed with whatever a test puts there. */
export interface HostilePeer {
  readonly url: string
  /** Paths of the requests that it has received, with what they sent. */
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers'] }[]
  /** How it answers other requests than those for its keys, and for its feed unless a test takes it over. */
  answer: Answer | undefined
  /** What its feed contains: as in our own, or not. */
  entries: readonly unknown[]
  removed: readonly string[]
  /** An entry of its feed, by default of its own agent. */
  entry(id: string, changes?: { record?: JsonObject; document?: JsonObject; path?: string[] }): JsonObject
  /** Signs a record with its own key. */
  sign(record: unknown): Promise<JsonObject>
  close(): Promise<void>
}

export async function startHostilePeer(): Promise<HostilePeer> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const [jwk, secret] = [publicKey.export({ format: 'jwk' }), privateKey.export({ format: 'jwk' })]
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request
    peer.requests.push({ path, headers })
    if (peer.answer) return peer.answer(request, response)
    if (path.endsWith('/.well-known/jwks.json')) return sendJson(response, { keys: [{ ...jwk, kid: 'hostile' }] })
    if (path.startsWith('/feed'))
      return sendJson(response, {
        agents: peer.entries,
        removed: peer.removed,
        full: true,
        more: false,
        cursor: 'hostile',
        service: peer.url,
      })
    response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const peer: HostilePeer = {
    url,
    requests: [],
    answer: undefined,
    entries: [],
    removed: [],
    entry: (id, { record = {}, document = {}, path = [url] } = {}) => ({
      record: {
        id,
        format: 'aidip',
        document: aidipAgent({ id, name: id, ...document }),
        origin_service: url,
        ...record,
      },
      path,
    }),
    sign: (record) => signDocument(toObject(record), { id: 'hostile', jwk: secret }),
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  return peer
}

export const sendJson = (response: ServerResponse, body: unknown): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))

const toObject = (record: unknown): JsonObject => JSON.parse(JSON.stringify(record))

/** Lets the reader read from the peer, with the least trust that lists agents without a review. */
export const addPeer = async (
  reader: TestDirectory,
  name: string,
  { url }: { url: string },
  terms: JsonObject = {},
): Promise<void> => {
  const body = { name, url, trust: 'limited', interval_seconds: 1, ...terms }
  expect((await reader.post('/admin/peers', { as: 'admin', body })).status).toBe(201)
}

export const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, PATIENCE)

/** What the operator sees of a peer. */
export const stateOf = async (reader: TestDirectory, name: string) => {
  const { json } = await reader.get('/admin/peers', { as: 'admin' })
  return json.peers.find((peer: { name: string }) => peer.name === name)
}

let pages = 0

/** Serves the entries to the reader, whose peer is called "hostile", and waits until it has taken them all. */
export async function serve(reader: TestDirectory, peer: HostilePeer, entries: readonly unknown[]): Promise<void> {
  const last = `last-of-page-${++pages}`
  // Several agents are taken at the same time. Once the second entry of an agent has been taken, so have all before it.
  const description = 'Everything before this has been taken.'
  peer.entries = [...entries, peer.entry(last), peer.entry(last, { document: { description } })]
  // A change of its terms lets the peer be read at once.
  const body = { rank_weight: 1 / (1 + pages) }
  expect((await reader.patch('/admin/peers/hostile', { as: 'admin', body })).status).toBe(200)
  await eventually(async () => expect((await reader.get(`/agents/${last}`)).json.description).toBe(description))
}

/** The entry of an agent in the feed of an honest directory. */
export async function entryOf(origin: TestDirectory, id: string): Promise<{ record: JsonObject; path: string[] }> {
  const { json } = await origin.get('/feed')
  return json.agents.find(({ record }: { record: JsonObject }) => record.id === id)
}
