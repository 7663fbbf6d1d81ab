import type { AgentRecord, Issue } from '@switchboard/protocol'
import type { CopyState, FederatedCopy } from '../store/store.js'
import { matchesNames } from './caller.js'

/**
 * How far the operator trusts a peer.
 * - `full`: its agents rank like local ones
 * - `limited`: its agents are listed and rank lower
 * - `quarantine`: an operator has to accept each agent
 * - `none`: nothing is read from it, and its agents are removed
 */
export const TRUST_LEVELS = ['full', 'limited', 'quarantine', 'none'] as const
export type TrustLevel = (typeof TRUST_LEVELS)[number]

/** Whether the agents of a peer are listed without a review. */
export const isOpen = ({ trust }: Pick<Peer, 'trust'>): boolean => trust === 'full' || trust === 'limited'

/** How agents of a peer can be read. */
export const PEER_PROTOCOLS = ['auto', 'feed', 'directory', 'profile'] as const
/** Queries of one peer: each is a request in every interval. */
export const MAX_QUERIES = 100

/** Another directory whose agents this one lists, and on which terms. */
export interface Peer {
  readonly name: string
  /** Base URL of the directory, without a trailing slash. */
  readonly url: string
  /** Sent to the peer only. */
  readonly token?: string
  readonly trust: TrustLevel
  readonly intervalSeconds: number
  /** Only agents with one of these tags; absent: all. */
  readonly tags?: readonly string[]
  /** Only agents whose publisher or origin has one of these names, or a prefix followed by `*`; absent: all. */
  readonly publishers?: readonly string[]
  /** Factor of the scores of its agents, above 0 and up to 1; default: by the trust level. */
  readonly rankWeight?: number
  /** Agents that are read at most. */
  readonly maxAgents: number
  /** How long its agents stay listed after it was last heard. */
  readonly keepSeconds: number
  /** How its agents are read; `auto` tries the change feed, then the Agent Directory. */
  readonly protocol: (typeof PEER_PROTOCOLS)[number]
  /** What the profile is asked for: it answers queries and has no list. */
  readonly queries?: readonly string[]
}

/** Settings of a peer that need not be given. */
export const PEER_DEFAULTS = {
  trust: 'limited',
  intervalSeconds: 300,
  maxAgents: 10_000,
  keepSeconds: 86_400,
  protocol: 'auto',
} as const

/** A peer as operators write it. */
export type PeerSettings = Pick<Peer, 'name' | 'url'> & {
  readonly [Name in keyof Omit<Peer, 'name' | 'url'>]?: Peer[Name] | undefined
}

/** The peer with its defaults. */
export function withPeerDefaults(settings: PeerSettings): Peer {
  const { token, rankWeight, tags, publishers, queries } = settings
  return {
    name: settings.name,
    url: settings.url.replace(/\/+$/, ''),
    trust: settings.trust ?? PEER_DEFAULTS.trust,
    intervalSeconds: settings.intervalSeconds ?? PEER_DEFAULTS.intervalSeconds,
    maxAgents: settings.maxAgents ?? PEER_DEFAULTS.maxAgents,
    keepSeconds: settings.keepSeconds ?? PEER_DEFAULTS.keepSeconds,
    protocol: settings.protocol ?? PEER_DEFAULTS.protocol,
    ...(token !== undefined && { token }),
    ...(rankWeight !== undefined && { rankWeight }),
    ...(tags && { tags }),
    ...(publishers && { publishers }),
    ...(queries && { queries }),
  }
}

/** What is wrong with the peers of the config; undefined if nothing is. */
export function peersProblem(peers: readonly PeerSettings[]): string | undefined {
  const names = peers.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) return `the name "${twice}" is used twice`
  for (const peer of peers) {
    const problem = peerProblem(peer)
    if (problem) return `${problem.at.slice(1)} of "${peer.name}" ${problem.message}`
  }
  return undefined
}

/** What is wrong with one peer; undefined if nothing is. */
export function peerProblem({ name, url, protocol, queries = [] }: PeerSettings): Issue | undefined {
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name))
    return { at: '/name', message: 'must be 1 to 64 letters, digits, dots, hyphens or underscores' }
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url) || /[?#@]/.test(url))
    return { at: '/url', message: 'must be an http(s) URL without a query, fragment or password' }
  if (protocol === 'profile' && queries.length === 0)
    return { at: '/queries', message: 'are needed for the protocol "profile", which has no list of agents' }
  return undefined
}

const WEIGHTS: Readonly<Record<TrustLevel, number>> = { full: 1, limited: 0.9, quarantine: 0.8, none: 0 }

/** Factor of the scores of a peer's agents. */
export const weightOf = ({ rankWeight, trust }: Peer): number => rankWeight ?? WEIGHTS[trust]

/** Directories that a copy may have passed; more would be a loop, or an attempt to hide the origin. */
export const MAX_HOPS = 8

/** Why the operator does not want this agent from this peer; `undefined` if it may be listed. */
export function peerPolicyProblem(peer: Peer, record: AgentRecord, authority: string): string | undefined {
  if (peer.tags && !peer.tags.some((tag) => record.tags.includes(tag))) return 'it has none of the allowed tags'
  const names = [record.publisher, authority].filter((name) => name !== undefined)
  if (peer.publishers && !names.some((name) => matchesNames(peer.publishers ?? [], name)))
    return 'its publisher is not one of those allowed'
  return undefined
}

/**
 * The state of a copy that a peer has sent, from what the operator decided about an earlier one. In quarantine, an agent
 * whose document has changed is reviewed again; a rejected agent stays rejected.
 */
export function stateOfCopy(peer: Peer, earlier: CopyState | undefined, isChanged: boolean): CopyState {
  if (earlier === 'rejected') return 'rejected'
  if (peer.trust !== 'quarantine') return 'listed'
  return earlier === 'accepted' && !isChanged ? 'accepted' : 'quarantined'
}

/** What the choice between copies depends on. */
export interface CopyChoice {
  /** The origin of the copy that is shown now. */
  readonly shown: string | undefined
  readonly peerOf: (name: string) => Peer | undefined
  /** Whether the peer that has sent the copy may speak for its origin. */
  readonly isHeeded: (copy: FederatedCopy) => boolean
  /** Milliseconds. */
  readonly now: number
}

/**
 * Chooses the copy to show: an agent that several peers know is one entry. Copies of one origin are the same agent: the
 * most trusted peer supplies it, then the latest document, the shortest path, the freshest copy. Another origin with the
 * same id is another agent, which must not take the place of the one that is shown unless the operator trusts its peer
 * more.
 */
export function chooseCopy(
  copies: readonly FederatedCopy[],
  { shown, peerOf, isHeeded, now }: CopyChoice,
): FederatedCopy | undefined {
  const rankOf = ({ peer }: FederatedCopy): number => TRUST_LEVELS.indexOf(peerOf(peer)?.trust ?? 'none')
  const usable = copies.filter((copy) => {
    const trust = peerOf(copy.peer)?.trust ?? 'none'
    const isShown = copy.state === 'accepted' || (copy.state === 'listed' && trust !== 'quarantine')
    return isShown && trust !== 'none' && endOfCopy(copy, peerOf(copy.peer)) > now && isHeeded(copy)
  })
  const sorted = usable.toSorted(
    (a, b) =>
      rankOf(a) - rankOf(b) ||
      Number(b.origin.service === shown) - Number(a.origin.service === shown) ||
      a.origin.path.length - b.origin.path.length ||
      compare(b.origin.freshness.received_at ?? '', a.origin.freshness.received_at ?? '') ||
      compare(a.peer, b.peer),
  )
  const [first] = sorted
  const isEqual = (copy: FederatedCopy): boolean =>
    copy.origin.service === first?.origin.service && rankOf(copy) === rankOf(first)
  // The origin has signed when it last changed the agent. A path is what the peers say.
  return sorted.filter(isEqual).sort((a, b) => compare(changedAt(b), changedAt(a)))[0]
}

/** When a copy is given up, in milliseconds: its lifetime at the origin is over, or its peer has not listed it for too long. */
export const endOfCopy = ({ expiresAt, seenAt }: FederatedCopy, peer: Peer | undefined): number =>
  Math.min(expiresAt ?? Number.POSITIVE_INFINITY, seenAt + (peer?.keepSeconds ?? 0) * 1000)

const changedAt = ({ origin }: FederatedCopy): string => origin.freshness.indexed_at ?? ''

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
