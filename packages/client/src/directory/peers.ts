import { asObjects, isObject, type JsonObject } from '@switchboard/protocol/json'
import type { Requester, RequestOptions } from './requester.js'

/** The terms on which a directory lists the agents of another one; see docs/federation.md for their defaults. */
export interface PeerTerms {
  readonly url?: string
  /** Our credential at the peer; `null` removes it. */
  readonly token?: string | null
  readonly trust?: 'full' | 'limited' | 'quarantine' | 'none'
  readonly intervalSeconds?: number
  /** `null`: all agents. */
  readonly tags?: readonly string[] | null
  /** `null`: all publishers. */
  readonly publishers?: readonly string[] | null
  readonly rankWeight?: number | null
  readonly maxAgents?: number
  readonly keepSeconds?: number
  readonly protocol?: 'auto' | 'feed' | 'directory' | 'profile'
  readonly queries?: readonly string[] | null
}

/** Another directory whose agents this one lists. */
export interface PeerDirectory {
  readonly name: string
  readonly url: string
  readonly trust: string
  /** RFC 3339. */
  readonly lastHeardAt?: string
  /** Failures since then. */
  readonly failures: number
  /** Why the last attempt failed. */
  readonly error?: string
  /** How many of its agents are listed here, after a review or without one. */
  readonly listed: number
  /** How many of its agents wait for a review. */
  readonly quarantined: number
  /** As the directory shows it. */
  readonly document: JsonObject
}

/** An agent of a peer that an operator has to review. */
export interface QuarantinedAgent {
  readonly agent: string
  readonly peer: string
  /** As the directory shows it, with the agent's document. */
  readonly document: JsonObject
}

/** The peers of a directory. */
export interface PeerAdmin {
  listPeers(options?: RequestOptions): Promise<readonly PeerDirectory[]>
  addPeer(
    peer: PeerTerms & { readonly name: string; readonly url: string },
    options?: RequestOptions,
  ): Promise<PeerDirectory>
  changePeer(name: string, terms: PeerTerms, options?: RequestOptions): Promise<PeerDirectory>
  /** Removes a peer, and the agents that only it supplies. */
  removePeer(name: string, options?: RequestOptions): Promise<void>
  /** Up to 200 agents of peers that wait for a review. */
  listQuarantine(options?: RequestOptions): Promise<readonly QuarantinedAgent[]>
  /** Accepts or rejects the copy of an agent; without a peer, the copies of all peers. */
  reviewAgent(
    review: { readonly agent: string; readonly peer?: string; readonly decision: 'accept' | 'reject' },
    options?: RequestOptions,
  ): Promise<void>
}

export const createPeerAdmin = (request: Requester): PeerAdmin => ({
  async listPeers(more) {
    const { body } = await request({ ...more, method: 'GET', path: '/admin/peers' })
    return asObjects(isObject(body) ? body.peers : undefined).map(readPeer)
  },
  async addPeer({ name, ...terms }, more) {
    const { body } = await request({ ...more, method: 'POST', path: '/admin/peers', body: { name, ...toBody(terms) } })
    return readPeer(isObject(body) ? body : {})
  },
  async changePeer(name, terms, more) {
    const { body } = await request({ ...more, method: 'PATCH', path: peerPath(name), body: toBody(terms) })
    return readPeer(isObject(body) ? body : {})
  },
  async removePeer(name, more) {
    await request({ ...more, method: 'DELETE', path: peerPath(name) })
  },
  async listQuarantine(more) {
    const { body } = await request({ ...more, method: 'GET', path: '/admin/quarantine?limit=200' })
    return asObjects(isObject(body) ? body.agents : undefined).map((document) => ({
      agent: String(document.agent),
      peer: String(document.peer),
      document,
    }))
  },
  async reviewAgent({ agent, peer, decision }, more) {
    const body = { agent, decision, ...(peer !== undefined && { peer }) }
    await request({ ...more, method: 'POST', path: '/admin/quarantine', body })
  },
})

const peerPath = (name: string): string => `/admin/peers/${encodeURIComponent(name)}`

/** Members have the same names, in snake case. */
const toBody = (terms: PeerTerms): JsonObject =>
  Object.fromEntries(
    Object.entries(terms).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]],
    ),
  )

function readPeer(document: JsonObject): PeerDirectory {
  const { name, url, trust, last_heard_at: heard, failures, error, agents } = document
  const count = (state: string): number => Number((isObject(agents) && agents[state]) || 0)
  return {
    name: String(name),
    url: String(url),
    trust: String(trust),
    failures: Number(failures),
    listed: count('listed') + count('accepted'),
    quarantined: count('quarantined'),
    ...(typeof heard === 'string' && { lastHeardAt: heard }),
    ...(typeof error === 'string' && { error }),
    document,
  }
}
