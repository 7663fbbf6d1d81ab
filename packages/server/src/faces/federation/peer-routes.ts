import {
  asString,
  asStrings,
  assertValid,
  compileSchema,
  given,
  type JsonObject,
  type JsonValue,
} from '@switchboard/protocol'
import { MAX_QUERIES, PEER_PROTOCOLS, type Peer, type PeerSettings, TRUST_LEVELS } from '../../policy/federation.js'
import type { Context } from '../../services/context.js'
import type { KnownPeer, Peers } from '../../services/federation/peers.js'
import type { PullState } from '../../services/federation/pull-state.js'
import { idOf, readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { Route } from '../route-group.js'
import { json } from '../schemas/response.js'
import { peersSchema, shownPeerSchema } from './response-schemas.js'

export interface PeerRoutesOptions {
  readonly context: Context
  readonly peers: Peers
  readonly stateOf: (peer: KnownPeer) => PullState
}

const text: JsonObject = { type: 'string', minLength: 1, maxLength: 2048 }
const texts: JsonObject = { type: ['array', 'null'], items: text, maxItems: 1000 }
const terms: JsonObject = {
  url: text,
  token: { type: ['string', 'null'], minLength: 1, maxLength: 8192 },
  trust: { enum: [...TRUST_LEVELS] },
  interval_seconds: { type: 'integer', minimum: 1, maximum: 2_592_000 },
  tags: texts,
  publishers: texts,
  rank_weight: { type: ['number', 'null'], exclusiveMinimum: 0, maximum: 1 },
  max_agents: { type: 'integer', minimum: 1, maximum: 1_000_000 },
  keep_seconds: { type: 'integer', minimum: 60, maximum: 31_536_000 },
  protocol: { enum: [...PEER_PROTOCOLS] },
  queries: { ...texts, maxItems: MAX_QUERIES },
}
const peerSchema: JsonObject = {
  type: 'object',
  required: ['name', 'url'],
  properties: { name: text, ...terms },
  additionalProperties: false,
}
const changesSchema: JsonObject = { type: 'object', properties: terms, additionalProperties: false }
const [checkPeer, checkChanges] = [compileSchema(peerSchema), compileSchema(changesSchema)]

/** For operators: the directories whose agents this one lists. */
export function peerRoutes({ context, peers, stateOf }: PeerRoutesOptions): Route[] {
  const showAll = async (): Promise<JsonObject> => {
    const counts = await context.store.federation.counts()
    const countsOf = ({ name }: Peer): JsonObject =>
      Object.fromEntries(counts.flatMap(({ peer, state, count }) => (peer === name ? [[state, count]] : [])))
    return { peers: peers.list().map((peer) => ({ ...showPeer(peer, stateOf(peer)), agents: countsOf(peer) })) }
  }
  return [
    {
      method: 'POST',
      path: '/admin/peers',
      summary: 'Add a directory whose agents this one lists; its token is stored encrypted and never returned',
      access: 'admin',
      body: peerSchema,
      responses: {
        201: json('the peer', shownPeerSchema),
        409: 'there is already a peer of that name, or the token cannot be stored encrypted',
      },
      handle: async (request, reply) => {
        const body = readJsonObject(request)
        assertValid(checkPeer(body))
        const changes = toChanges(body)
        const added = { ...changes, name: String(body.name), url: String(body.url) }
        const peer = await peers.add(added, request.caller)
        return sendJson(reply.code(201), showPeer(peer, stateOf(peer)))
      },
    },
    {
      method: 'GET',
      path: '/admin/peers',
      summary: 'List peers: their terms without secrets, when they were last heard, and how many agents they supply',
      access: 'admin',
      responses: { 200: json('the peers', peersSchema) },
      handle: async (_request, reply) => sendJson(reply, await showAll()),
    },
    {
      method: 'PATCH',
      path: '/admin/peers/:id',
      summary: 'Change the terms of a peer; null removes a limit or the token',
      access: 'admin',
      body: changesSchema,
      responses: { 200: json('the peer', shownPeerSchema), 404: 'no such peer', 409: 'the peer is in the config file' },
      handle: async (request, reply) => {
        const body = readJsonObject(request)
        assertValid(checkChanges(body))
        const peer = await peers.change(idOf(request), toChanges(body), request.caller)
        return sendJson(reply, showPeer(peer, stateOf(peer)))
      },
    },
    {
      method: 'DELETE',
      path: '/admin/peers/:id',
      summary: 'Remove a peer; the agents that only it supplies disappear',
      access: 'admin',
      responses: { 204: 'removed', 404: 'no such peer', 409: 'the peer is in the config file' },
      handle: async (request, reply) => {
        await peers.remove(idOf(request), request.caller)
        return reply.code(204).send()
      },
    },
  ]
}

/** `null` removes what was set. */
type Changes = { -readonly [Name in keyof Omit<PeerSettings, 'name'>]?: PeerSettings[Name] }

function toChanges(body: JsonObject): Changes {
  const listOf = (value: JsonValue): string[] | undefined => (value === null ? undefined : asStrings(value))
  const numberOf = (value: JsonValue): number | undefined => (typeof value === 'number' ? value : undefined)
  const changes: Changes = {}
  for (const [name, value] of Object.entries(body)) {
    if (name === 'url') changes.url = String(value)
    if (name === 'token') changes.token = asString(value)
    if (name === 'trust') changes.trust = TRUST_LEVELS.find((level) => level === value)
    if (name === 'protocol') changes.protocol = PEER_PROTOCOLS.find((protocol) => protocol === value)
    if (name === 'interval_seconds') changes.intervalSeconds = numberOf(value)
    if (name === 'max_agents') changes.maxAgents = numberOf(value)
    if (name === 'keep_seconds') changes.keepSeconds = numberOf(value)
    if (name === 'rank_weight') changes.rankWeight = numberOf(value)
    if (name === 'tags') changes.tags = listOf(value)
    if (name === 'publishers') changes.publishers = listOf(value)
    if (name === 'queries') changes.queries = listOf(value)
  }
  return changes
}

const showPeer = (peer: KnownPeer, state: PullState): JsonObject => ({
  name: peer.name,
  url: peer.url,
  source: peer.source,
  trust: peer.trust,
  interval_seconds: peer.intervalSeconds,
  max_agents: peer.maxAgents,
  keep_seconds: peer.keepSeconds,
  protocol: state.protocol ?? peer.protocol,
  has_token: peer.token !== undefined,
  ...given('rank_weight', peer.rankWeight),
  ...(peer.tags && { tags: [...peer.tags] }),
  ...(peer.publishers && { publishers: [...peer.publishers] }),
  ...(peer.queries && { queries: [...peer.queries] }),
  ...timeMember('last_heard_at', state.heardAt),
  ...timeMember('last_listed_at', state.listedAt),
  failures: state.failures,
  ...given('error', state.error),
  refused: state.refused,
  ...given('last_refusal', state.refusal),
})

const timeMember = (name: string, at: number | undefined): JsonObject =>
  at === undefined ? {} : { [name]: new Date(at).toISOString() }
