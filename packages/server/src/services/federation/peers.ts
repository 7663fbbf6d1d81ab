import { asStrings, DirectoryError, invalid, type JsonObject } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import {
  PEER_DEFAULTS,
  type Peer,
  type PeerSettings,
  peerProblem,
  TRUST_LEVELS,
  withPeerDefaults,
} from '../../policy/federation.js'
import type { TrustEntry, TrustStore } from '../../store/trust-store.js'
import { auditOf } from '../context.js'
import type { Seal } from '../identity/seal.js'

/** A peer, and who configured it. The addresses of peers in the config are allowed as written. */
export interface KnownPeer extends Peer {
  readonly source: 'config' | 'admin'
}

/** The directories that this one reads from: those of the config, and those that operators have added. */
export interface Peers {
  list(): readonly KnownPeer[]
  get(name: string): KnownPeer | undefined
  /** Throws `conflict` if the name is taken. */
  add(peer: PeerSettings, caller: Caller): Promise<KnownPeer>
  /** Throws `not_found`, or `conflict` for a peer of the config. */
  change(name: string, changes: Partial<PeerSettings>, caller: Caller): Promise<KnownPeer>
  remove(name: string, caller: Caller): Promise<void>
  /** Reads what another replica has changed. */
  reload(): Promise<void>
  /** Increases with every change of the list. */
  readonly version: number
}

export interface PeersOptions {
  readonly configured: readonly PeerSettings[]
  readonly store: TrustStore
  /** Encrypts tokens; undefined: peers with a token cannot be added. */
  readonly seal: Seal | undefined
  /** Throws if the address may not be connected to. */
  readonly checkAddress: (url: URL) => void
  readonly now: () => number
  /** Called for a token that cannot be decrypted. */
  readonly onUnreadable: (peer: string) => void
}

/** Peers that operators may add: each is read regularly. */
const MAX_PEERS = 100

export async function createPeers(options: PeersOptions): Promise<Peers> {
  const { configured, store, seal, checkAddress, now, onUnreadable } = options
  const fixed = configured.map((peer): KnownPeer => ({ ...withPeerDefaults(peer), source: 'config' }))
  let stored = new Map<string, { readonly peer: KnownPeer; readonly version: number }>()
  let version = 0

  const open = ({ key, value, version }: TrustEntry): [string, { peer: KnownPeer; version: number }] => {
    const token = typeof value.token === 'string' ? seal?.open(value.token, aboutOf(key)) : undefined
    if (value.token !== undefined && token === undefined) onUnreadable(key)
    return [key, { peer: { ...readPeer(key, value), ...(token !== undefined && { token }), source: 'admin' }, version }]
  }
  const reload = async (): Promise<void> => {
    const entries = (await store.list('peer')).map(open)
    const known = JSON.stringify([...stored])
    stored = new Map(entries)
    if (JSON.stringify([...stored]) !== known) version++
  }
  await reload()

  const get = (name: string): KnownPeer | undefined =>
    fixed.find((peer) => peer.name === name) ?? stored.get(name)?.peer

  const save = async (peer: Peer, base: number, caller: Caller, before?: KnownPeer): Promise<KnownPeer> => {
    const problem = peerProblem(peer)
    if (problem) throw invalid([problem])
    checkUrl(peer.url, checkAddress)
    const value = writePeer(peer, seal)
    const { token: _secret, ...after } = value
    const audit = auditOf(caller, before ? 'peer.change' : 'peer.add', now(), {
      detail: peer.name,
      after: { ...after, has_token: peer.token !== undefined },
      ...(before && { before: writePeer({ ...before, token: undefined }, seal) }),
    })
    if (!(await store.put({ kind: 'peer', key: peer.name, version: base, value, at: now() }, audit))) {
      await reload()
      throw new DirectoryError('conflict', `the peer "${peer.name}" has just been changed: read it again`)
    }
    await reload()
    return stored.get(peer.name)?.peer ?? { ...peer, source: 'admin' }
  }

  const own = (name: string): { peer: KnownPeer; version: number } => {
    const found = stored.get(name)
    if (fixed.some((peer) => peer.name === name))
      throw new DirectoryError('conflict', `the peer "${name}" is in the config file: change it there`)
    if (!found) throw new DirectoryError('not_found', `there is no peer "${name}"`)
    return found
  }

  return {
    list: () => [...fixed, ...[...stored.values()].flatMap(({ peer }) => (isFixed(peer) ? [] : [peer]))],
    get,
    async add(peer, caller) {
      if (get(peer.name)) throw new DirectoryError('conflict', `there is already a peer "${peer.name}"`)
      if (stored.size >= MAX_PEERS)
        throw new DirectoryError('conflict', `there may be ${MAX_PEERS} peers: remove one that you no longer need`)
      return save(withPeerDefaults(peer), 0, caller)
    },
    async change(name, changes, caller) {
      const { peer, version: base } = own(name)
      return save(withPeerDefaults({ ...peer, ...changes, name }), base, caller, peer)
    },
    async remove(name, caller) {
      const { version: base } = own(name)
      const audit = auditOf(caller, 'peer.remove', now(), { detail: name })
      await store.delete({ kind: 'peer', key: name, version: base }, audit)
      await reload()
    },
    reload,
    get version() {
      return version
    },
  }

  function isFixed({ name }: Peer): boolean {
    return fixed.some((peer) => peer.name === name)
  }
}

const aboutOf = (name: string): string => `token of peer ${name}`

/** A URL that comes over the API passes the address guard; whoever may add peers must not reach internal services. */
function checkUrl(url: string, checkAddress: (url: URL) => void): void {
  try {
    checkAddress(new URL(url))
  } catch (error) {
    throw invalid([{ at: '/url', message: error instanceof Error ? error.message : 'cannot be used' }])
  }
}

function writePeer(
  { name, token, ...peer }: Omit<Peer, 'token'> & { token?: string | undefined },
  seal?: Seal,
): JsonObject {
  if (token !== undefined && !seal)
    throw new DirectoryError(
      'conflict',
      'this directory cannot encrypt the token: the operator must set SWITCHBOARD_SECRET',
    )
  const { url, trust, intervalSeconds, rankWeight, maxAgents, keepSeconds, protocol, tags, publishers, queries } = peer
  return {
    url,
    trust,
    intervalSeconds,
    maxAgents,
    keepSeconds,
    protocol,
    ...(rankWeight !== undefined && { rankWeight }),
    ...(tags && { tags: [...tags] }),
    ...(publishers && { publishers: [...publishers] }),
    ...(queries && { queries: [...queries] }),
    ...(token !== undefined && seal && { token: seal.close(token, aboutOf(name)) }),
  }
}

/** A stored peer. Written by this program, so only its version is in doubt: what is missing has its default. */
function readPeer(name: string, value: JsonObject): Peer {
  const { url, trust, rankWeight, intervalSeconds, maxAgents, keepSeconds, protocol, tags, publishers, queries } = value
  return {
    ...PEER_DEFAULTS,
    name,
    url: String(url),
    trust: TRUST_LEVELS.find((level) => level === trust) ?? 'quarantine',
    ...(typeof intervalSeconds === 'number' && { intervalSeconds }),
    ...(typeof maxAgents === 'number' && { maxAgents }),
    ...(typeof keepSeconds === 'number' && { keepSeconds }),
    ...((protocol === 'feed' || protocol === 'directory' || protocol === 'profile') && { protocol }),
    ...(typeof rankWeight === 'number' && { rankWeight }),
    ...(tags !== undefined && { tags: asStrings(tags) }),
    ...(publishers !== undefined && { publishers: asStrings(publishers) }),
    ...(queries !== undefined && { queries: asStrings(queries) }),
  }
}
