import { isProduction } from '../config/settings.js'
import type { Gateway } from '../gateway/gateway.js'
import { weightOf } from '../policy/federation.js'
import type { StoredCredential } from '../services/calls/admission/choose-credential.js'
import type { Context } from '../services/context.js'
import { createAcceptCopy } from '../services/federation/accept-copy.js'
import { createFanOut, type FanOut } from '../services/federation/fan-out.js'
import { createFeed, type Feed } from '../services/federation/feed.js'
import { createWriteEntry, type WriteEntry } from '../services/federation/feed-entry.js'
import { credentialAtPeer } from '../services/federation/peer-credential.js'
import { createPeerRequest } from '../services/federation/peer-request.js'
import { createPeers, type KnownPeer, type Peers } from '../services/federation/peers.js'
import { createPull, stateOfPull } from '../services/federation/pull.js'
import type { PullState } from '../services/federation/pull-state.js'
import { createPuller } from '../services/federation/puller.js'
import { createReadDirectory } from '../services/federation/read-directory.js'
import { createReadFeed } from '../services/federation/read-feed.js'
import { createReadProfile } from '../services/federation/read-profile.js'
import { createReviews, type Reviews } from '../services/federation/review.js'
import { createShowCopy } from '../services/federation/show-copy.js'
import { createVerifyOrigin, keySetOf } from '../services/federation/verify-origin.js'
import type { Agent } from '../services/registry/catalog.js'
import { createCheckLease } from '../services/trust/check-lease.js'
import { createSchedule } from '../services/trust/schedule.js'
import { createSharedResults, type SharedResults } from '../services/trust/shared-results.js'
import { createSignerKeys } from '../services/trust/signer-keys.js'
import type { Base } from './base.js'
import type { Identity } from './identity.js'

/** Milliseconds between looks for peers that are due. */
const TICK_MS = 500
/** Rejected agents of one peer that a search at the peers leaves out. */
const MAX_REJECTED = 1000

/** The peers, and how far their agents have been read. */
export interface Peering {
  readonly peers: Peers
  readonly states: SharedResults
  /** Score factor of an agent, 0 to 1. */
  factorOf(agent: Agent): number
  /** The credential for an agent that is called through a peer. */
  credentialOf(agent: Agent): StoredCredential | undefined
}

export async function wirePeers(
  { config, store, log, now }: Base,
  { seal }: Identity,
  { checkAddress }: Gateway,
): Promise<Peering> {
  const peers = await createPeers({
    configured: config.peers,
    store: store.trust,
    seal,
    checkAddress,
    now,
    onUnreadable: (peer) =>
      log.warn({ peer }, 'cannot decrypt the token for a peer: it was set with a different secret'),
  })
  return {
    peers,
    states: await createSharedResults({ store: store.trust, kind: 'pull', now }),
    factorOf({ stored: { marks } }) {
      const peer = marks.origin && peers.get(marks.origin.peer)
      return peer ? weightOf(peer) : 1
    },
    credentialOf: (agent) => credentialAtPeer(peers, agent),
  }
}

export interface Federation {
  readonly peers: Peers
  readonly stateOf: (peer: KnownPeer) => PullState
  readonly feed: Feed
  readonly writeEntry: WriteEntry
  readonly reviews: Reviews
  readonly fanOut: FanOut
  start(): void
  stop(): Promise<void>
}

export interface FederationParts {
  readonly context: Context
  readonly identity: Identity
  readonly gateway: Gateway
  readonly peering: Peering
}

/** Sharing agents with other directories: what they read here, and what is read from them. */
export function wireFederation(base: Base, { context, identity, gateway, peering }: FederationParts): Federation {
  const { config, log, metrics, traces, store, now, monotonic, baseUrl, logError } = base
  const { catalog, grantsOf } = context
  const { peers, states } = peering
  const { signing } = identity
  const feed = createFeed({
    catalog,
    grantsOf,
    // Copies are passed on only with a signature that proves their origin (C-45).
    isExported: ({ stored: { marks } }) => marks.origin === undefined || marks.origin.signed !== undefined,
    now,
  })
  catalog.subscribe(feed)
  const showCopy = createShowCopy({ context, peers, stateOf: (peer) => stateOfPull(states, peer) })
  const request = createPeerRequest({ open: fetch, guarded: gateway.fetch })
  const keysOf = createSignerKeys({
    fetch: (input, init) => (isConfigured(peers, input) ? fetch : gateway.fetch)(input, init),
    monotonic,
    httpLoopback: !isProduction(config),
  })
  const acceptCopy = createAcceptCopy({
    context,
    verifyOrigin: createVerifyOrigin(keysOf, monotonic),
    baseUrl,
    ownKeys: () => signing.publicKeys().map(({ kid }) => String(kid)),
  })
  const puller = createPuller({
    peers,
    pull: createPull({
      store: store.federation,
      states,
      readers: {
        feed: createReadFeed(request),
        directory: createReadDirectory({
          request,
          hasCopy: async (peer, id) => (await store.federation.of(id)).some((copy) => copy.peer === peer),
          now,
        }),
        profile: createReadProfile(request),
      },
      acceptCopy,
      showCopy,
      now,
      monotonic,
    }),
    showCopy,
    store: store.federation,
    states,
    lease: createCheckLease({ store: store.trust, key: 'federation', now }),
    catalog,
    now,
    monotonic,
    random: Math.random,
    onFailure: (peer, reason) => log.warn({ peer, reason }, 'cannot read from a peer'),
    onRecovery: (peer) => log.info({ peer }, 'a peer can be read again'),
    onError: logError('could not read from a peer'),
  })
  catalog.subscribe({
    findings: puller.findings,
    // Another peer may supply the agent, or one that had to give way to a local agent.
    removed: (_number, { record }) => {
      if (peers.list().length > 0) showCopy(record.id).catch(logError('could not show the copy of an agent'))
    },
  })
  const isFailing = (peer: KnownPeer): boolean => puller.stateOf(peer).failures > 0
  metrics.gauges({
    peers: () => peers.list().filter((peer) => !isFailing(peer)).length,
    failingPeers: () => peers.list().filter(isFailing).length,
  })
  const schedule = createSchedule(puller.run, TICK_MS, logError('could not read from peers'))
  return {
    peers,
    stateOf: puller.stateOf,
    feed,
    writeEntry: createWriteEntry({ catalog, signing, baseUrl, hasGateway: config.gateway.enabled, now }),
    reviews: createReviews(context, showCopy),
    fanOut: createFanOut({
      peers,
      stateOf: puller.stateOf,
      request,
      traces,
      acceptCopy,
      rejectedOf: async (peer) => {
        const copies = await store.federation.list({ peer, state: 'rejected', limit: MAX_REJECTED })
        return new Set(copies.map(({ agent }) => agent))
      },
      now,
      onError: logError('could not ask a peer'),
    }),
    start: schedule.start,
    async stop() {
      await Promise.all([schedule.stop(), puller.stop()])
    },
  }
}

/** Whether the URL is that of the keys of a peer in the config, whose address is allowed as written. */
function isConfigured(peers: Peers, input: string | URL | Request): boolean {
  const { href } = new URL(input instanceof Request ? input.url : input)
  return peers.list().some(({ source, url }) => source === 'config' && new URL(keySetOf(url)).href === href)
}
