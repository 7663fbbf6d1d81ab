import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@switchboard/protocol'
import type { FederationStore } from '../../store/federation-store.js'
import type { StoredAgent } from '../../store/store.js'
import type { Catalog } from '../registry/catalog.js'
import type { CheckLease } from '../trust/check-lease.js'
import type { SharedResults } from '../trust/shared-results.js'
import { PeerError } from './peer-request.js'
import type { KnownPeer, Peers } from './peers.js'
import { type Pull, stateOfPull } from './pull.js'
import { type PullState, silentSince, writePullState } from './pull-state.js'
import type { ShowCopy } from './show-copy.js'

/** Reads the agents of all peers regularly, in one process of all replicas. */
export interface Puller {
  /** Starts what is due, unless another replica does. */
  run(): Promise<void>
  /** Cancels what is in progress. */
  stop(): Promise<void>
  stateOf(peer: KnownPeer): PullState
  /** For agents of a peer that has not been heard for a while: since when. */
  findings(agent: StoredAgent): JsonObject
}

export interface PullerOptions {
  readonly peers: Peers
  readonly pull: Pull
  readonly showCopy: ShowCopy
  readonly store: FederationStore
  readonly states: SharedResults
  readonly lease: CheckLease
  readonly catalog: Pick<Catalog, 'index' | 'review'>
  readonly now: () => number
  readonly monotonic: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly onFailure: (peer: string, reason: string) => void
  readonly onRecovery: (peer: string) => void
  readonly onError: (error: unknown) => void
}

/** Milliseconds: longest pause after failures. */
const MAX_PAUSE_MS = 3_600_000
/** Milliseconds that cancelled work has to end. */
const STOP_MS = 500
const PURGE = 200

export function createPuller(options: PullerOptions): Puller {
  const { peers, pull, showCopy, store, states, lease, catalog, now, monotonic, random } = options
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()
  /** By the monotonic clock. */
  const dueAt = new Map<string, number>()
  /** Peers that are out of reach, and when they were last heard. */
  let silent = new Map<string, number>()
  let seenVersion = -1

  const pauseAfter = ({ intervalSeconds }: KnownPeer, failures: number): number => {
    const pause = intervalSeconds * 1000 * 2 ** Math.min(failures, 20)
    // Directories that started together must not meet again every time.
    return Math.min(pause, Math.max(MAX_PAUSE_MS, intervalSeconds * 1000)) * (0.85 + 0.3 * random())
  }

  const runOnce = async (peer: KnownPeer): Promise<void> => {
    const before = stateOfPull(states, peer)
    try {
      const more = await pull(peer, stopping.signal)
      if (before.failures > 0) options.onRecovery(peer.name)
      dueAt.set(peer.name, monotonic() + (more ? 0 : pauseAfter(peer, 0)))
    } catch (error) {
      if (stopping.signal.aborted) return
      const failures = before.failures + 1
      dueAt.set(peer.name, monotonic() + pauseAfter(peer, failures))
      const reason = error instanceof PeerError ? error.message : 'an internal error, see the log'
      if (!(error instanceof PeerError)) options.onError(error)
      if (before.failures === 0) options.onFailure(peer.name, reason)
      const state = stateOfPull(states, peer)
      await states.save(peer.name, writePullState({ ...state, failures, error: reason }))
    }
  }

  /** Removes the agents of peers that were removed or are not trusted any more. */
  const purge = async (): Promise<void> => {
    const names = new Set((await store.counts()).map(({ peer }) => peer))
    for (const name of names) {
      const trust = peers.get(name)?.trust ?? 'none'
      for (let isDone = trust !== 'none'; !isDone; ) {
        const copies = await store.list({ peer: name, limit: PURGE })
        const ids = copies.map(({ agent }) => agent)
        await store.delete(name, ids)
        for (const id of ids) await showCopy(id)
        isDone = copies.length < PURGE
      }
    }
  }

  const noteSilence = (): void => {
    const before = silent
    silent = new Map(
      peers.list().flatMap((peer) => {
        const since = silentSince(peer, stateOfPull(states, peer), now())
        return since === undefined ? [] : [[peer.name, since] as const]
      }),
    )
    const changed = new Set(
      [...before.keys(), ...silent.keys()].filter((name) => before.has(name) !== silent.has(name)),
    )
    if (changed.size === 0) return
    const all = Array.from(catalog.index.select({ conditions: [], view: ({ record }) => record }))
    for (const { number, stored } of all) if (changed.has(stored.marks.origin?.peer ?? '')) catalog.review(number)
  }

  return {
    async run() {
      await states.news()
      noteSilence()
      const active = peers.list().filter(({ trust }) => trust !== 'none')
      const isNew = peers.version !== seenVersion
      if ((active.length === 0 && !isNew) || !(await lease.hold())) return
      if (isNew) {
        seenVersion = peers.version
        dueAt.clear()
        await purge()
      }
      for (const peer of active) {
        if (running.has(peer.name) || (dueAt.get(peer.name) ?? 0) > monotonic()) continue
        // Not awaited: a slow peer must not delay the others.
        const work = runOnce(peer)
          .catch(options.onError)
          .finally(() => running.delete(peer.name))
        running.set(peer.name, work)
      }
    },
    async stop() {
      stopping.abort()
      await Promise.race([Promise.all(running.values()), sleep(STOP_MS)])
      await lease.release()
    },
    stateOf: (peer) => stateOfPull(states, peer),
    findings({ marks }) {
      const heardAt = marks.origin && silent.get(marks.origin.peer)
      return heardAt === undefined ? {} : { peer: { stale: true, last_heard_at: new Date(heardAt).toISOString() } }
    },
  }
}
