import { isDeepStrictEqual } from 'node:util'
import { createTokenBuckets, DirectoryError, given } from '@switchboard/protocol'
import type { CopyFilter, FederatedCopy, FederationStore } from '../../store/federation-store.js'
import { createPacer } from '../time-slices.js'
import type { SharedResults } from '../trust/shared-results.js'
import type { AcceptCopy } from './accept-copy.js'
import { PeerError, printable } from './peer-request.js'
import type { KnownPeer } from './peers.js'
import { NEVER_PULLED, type PullState, toPullState, writePullState } from './pull-state.js'
import type { PeerEntry, PeerPage, ReadPage } from './read-feed.js'
import type { ShowCopy } from './show-copy.js'

/** Reads what is new at a peer. True if there is more to read at once. Throws a PeerError if the peer cannot be read. */
export type Pull = (peer: KnownPeer, signal: AbortSignal) => Promise<boolean>

export interface PullOptions {
  readonly store: FederationStore
  readonly states: Pick<SharedResults, 'of' | 'save'>
  /** How agents are read, in the order in which `auto` tries them. */
  readonly readers: Readonly<Record<'feed' | 'directory' | 'profile', ReadPage>>
  readonly acceptCopy: AcceptCopy
  readonly showCopy: ShowCopy
  readonly now: () => number
  readonly monotonic: () => number
}

/** Milliseconds and bytes of one round; then other work has its turn, and the next round continues. */
const ROUND = { ms: 30_000, bytes: 32 * 1024 * 1024 }
/** Agents that are taken at the same time: what they write is committed together, which is most of the time that they take. */
const TOGETHER = 10
/** Milliseconds to check the agents of one page. */
const PAGE_MS = 60_000
/** Milliseconds between complete lists, at most: they find what the changes did not tell. */
const LIST_MS = 12 * 3_600_000
/** Complete lists in the time that agents are kept after a peer was last heard. */
const LISTS_PER_KEPT = 3
/** Characters of the reason why an agent was refused. */
const MAX_REASON = 500
/** Ids of removed agents that are looked at on one page. */
const MAX_REMOVED = 20_000
const SWEEP = 200
/**
 * Agents that a peer may add or change in a period of milliseconds, beyond twice the number that is kept of it: each is
 * indexed, embedded and written to the audit log.
 */
const CHANGES = { more: 1000, periodMs: 12 * 3_600_000 }
const MAX_PEERS = 1000
/** Pages of a list: as many as a peer needs that sends short ones, and no more. */
const AGENTS_PER_PAGE = 5
const EMPTY_PAGES = 100

/** The state of a peer, unless it has been configured differently since: then everything is read again. */
export function stateOfPull(states: Pick<SharedResults, 'of'>, peer: KnownPeer): PullState {
  const state = toPullState(states.of(peer.name))
  if (state.terms === termsOf(peer)) return state
  return { ...NEVER_PULLED, terms: termsOf(peer), ...(state.heardAt !== undefined && { heardAt: state.heardAt }) }
}

/** What decides which agents of a peer are kept. */
const termsOf = ({ url, trust, tags, publishers, maxAgents, protocol, queries }: KnownPeer): string =>
  JSON.stringify([url, trust, tags, publishers, maxAgents, protocol, queries])

export function createPull(options: PullOptions): Pull {
  const { store, states, readers, acceptCopy, showCopy, now, monotonic } = options
  const capacities = new Map<string, number>()
  const changes = createTokenBuckets({
    capacity: (name) => capacities.get(name) ?? CHANGES.more,
    refillMs: CHANGES.periodMs,
    maxKeys: MAX_PEERS,
    monotonic,
  })

  /** Reads a page with the interface that the peer has. */
  const readPage = async (peer: KnownPeer, state: PullState, signal: AbortSignal) => {
    const chosen = peer.protocol === 'auto' ? state.protocol : peer.protocol
    for (const protocol of chosen ? [chosen] : (['feed', 'directory', 'profile'] as const)) {
      const page = await readers[protocol](peer, state, signal)
      if (page !== 'unsupported') return { page, protocol }
    }
    if (chosen && peer.protocol === 'auto') await save(peer, { ...state, protocol: undefined, cursor: undefined })
    throw new PeerError(
      'the peer has neither a change feed (/feed) nor an Agent Directory (/ad/l); for a discovery service, set queries',
    )
  }

  const save = (peer: KnownPeer, state: PullState): Promise<void> => states.save(peer.name, writePullState(state))

  const takePage = async (peer: KnownPeer, page: PeerPage, room: Room, signal: AbortSignal): Promise<void> => {
    const begun = monotonic()
    const pace = createPacer()
    const pause = async (): Promise<void> => {
      if (signal.aborted) throw new PeerError('the request was cancelled')
      // Each signature may need keys from another host.
      if (monotonic() - begun > PAGE_MS) throw new PeerError('it takes too long to check its agents')
      await pace()
    }
    for (const entries of takenTogether(page.entries)) {
      await pause()
      // Nothing goes on after the round has ended, even if one of them fails.
      const results = await Promise.allSettled(entries.map((entry) => take(peer, entry, room)))
      for (const result of results) if (result.status === 'rejected') throw result.reason
    }
    for (const { id, expiresAt } of page.unchanged ?? []) {
      const copy = (await store.of(id)).find((each) => each.peer === peer.name)
      if (copy) await keep({ ...copy, seenAt: now(), expiresAt }, room)
    }
    for (const id of page.removed.slice(0, MAX_REMOVED)) {
      await pause()
      const copy = (await store.of(id)).find((each) => each.peer === peer.name)
      if (copy) await drop(copy)
    }
  }

  /** A rejection stays: otherwise a peer could undo it by removing the agent and listing it again. */
  const drop = async ({ peer, agent, state }: FederatedCopy): Promise<void> => {
    if (state === 'rejected') return
    await store.delete(peer, [agent])
    await showCopy(agent)
  }

  const take = async (peer: KnownPeer, entry: PeerEntry, room: Room): Promise<void> => {
    const { id } = entry.record
    const earlier = typeof id === 'string' ? (await store.of(id)).find((each) => each.peer === peer.name) : undefined
    const isTooMany = (): boolean => !earlier && room.left <= 0
    const tooMany = `it has more than ${peer.maxAgents} agents`
    if (isTooMany()) return refuse(room, tooMany)
    const accepted = await acceptCopy(peer, entry, earlier)
    if ('ours' in accepted) return
    if ('refused' in accepted) {
      refuse(room, accepted.refused)
      if (earlier) await drop(earlier)
      return
    }
    // Others that are taken at the same time may have filled the room.
    if (isTooMany()) return refuse(room, tooMany)
    if (isChanged(accepted.copy, earlier) && changes.take(peer.name) !== undefined) {
      refuse(room, 'it changes its agents too often')
      if (earlier) await keep({ ...earlier, seenAt: now() }, room)
      return
    }
    if (!earlier) room.left--
    await keep(accepted.copy, room)
  }

  const keep = async (copy: FederatedCopy, room: Room): Promise<void> => {
    await store.put([copy])
    try {
      await showCopy(copy.agent)
    } catch (error) {
      // Such as a quota that is used up; it concerns this agent only.
      if (!(error instanceof DirectoryError)) throw error
      refuse(room, error.message)
    }
  }

  /** Removes what a complete list did not contain. */
  const sweep = async (peer: KnownPeer, listStartedAt: number): Promise<void> => {
    const pace = createPacer()
    for (let after: CopyFilter['after']; ; ) {
      const gone = await store.list({
        peer: peer.name,
        seenBefore: listStartedAt,
        limit: SWEEP,
        ...given('after', after),
      })
      for (const copy of gone) {
        await drop(copy)
        await pace()
      }
      after = gone.at(-1)
      if (gone.length < SWEEP) return
    }
  }

  const countOf = async (peer: KnownPeer): Promise<number> =>
    (await store.counts()).reduce((sum, { peer: name, count }) => sum + (name === peer.name ? count : 0), 0)

  return async (peer, signal) => {
    let state = startOf(stateOfPull(states, peer), peer, now())
    capacities.set(peer.name, CHANGES.more + 2 * peer.maxAgents)
    const room: Room = { left: peer.maxAgents - (await countOf(peer)), refused: 0, refusal: undefined }
    const begun = monotonic()
    let bytes = 0
    for (;;) {
      const { page, protocol } = await readPage(peer, state, signal)
      const heard = { ...state, protocol, heardAt: now() }
      if (page === 'unchanged') {
        await save(peer, { ...heard, ...SUCCESS })
        return false
      }
      // The peer may start a complete list by itself, such as after its restart.
      const listStartedAt = page.full ? (state.listStartedAt ?? now()) : undefined
      await takePage(peer, page, room, signal)
      const isListed = page.full && !page.more
      if (isListed && listStartedAt !== undefined) await sweep(peer, listStartedAt)
      state = {
        ...heard,
        // A list without end is a failure, however many pages were read.
        ...(!page.more && SUCCESS),
        cursor: page.cursor,
        etag: page.etag,
        pages: page.more ? state.pages + 1 : 0,
        listStartedAt: isListed ? undefined : listStartedAt,
        refused: (page.full && state.listStartedAt === undefined ? 0 : state.refused) + room.refused,
        refusal: room.refusal ?? state.refusal,
        ...(isListed && { listedAt: listStartedAt }),
      }
      room.refused = 0
      await save(peer, state)
      bytes += page.bytes
      if (!page.more) return false
      if (state.pages > EMPTY_PAGES + peer.maxAgents / AGENTS_PER_PAGE) {
        await save(peer, { ...state, cursor: undefined, listStartedAt: undefined, pages: 0 })
        throw new PeerError('its list does not end')
      }
      if (monotonic() - begun > ROUND.ms || bytes > ROUND.bytes) return true
    }
  }
}

/** The entries in their order, in groups that name no agent twice. */
function takenTogether(entries: readonly PeerEntry[]): PeerEntry[][] {
  const groups: PeerEntry[][] = []
  let ids = new Set<unknown>()
  for (const entry of entries) {
    const { id } = entry.record
    const group = ids.has(id) ? undefined : groups.at(-1)
    if (group && group.length < TOGETHER) group.push(entry)
    else {
      groups.push([entry])
      ids = new Set()
    }
    ids.add(id)
  }
  return groups
}

/** How many more agents of a peer are kept, and which were not. */
interface Room {
  left: number
  refused: number
  refusal: string | undefined
}

function refuse(room: Room, reason: string): void {
  room.refused++
  room.refusal = printable(reason.slice(0, MAX_REASON))
}

const SUCCESS = { failures: 0, error: undefined }

/** Whether the copy is new, or says something else. A longer lifetime alone is no change. */
function isChanged(copy: FederatedCopy, earlier: FederatedCopy | undefined): boolean {
  const told = ({ format, document, origin: { service, path, redacted, gateway, freshness } }: FederatedCopy) => [
    ...[format, document, service, path, redacted, gateway, freshness.indexed_at],
  ]
  const endOf = ({ expiresAt = Number.POSITIVE_INFINITY }: FederatedCopy): number => expiresAt
  return !earlier || endOf(copy) < endOf(earlier) || !isDeepStrictEqual(told(copy), told(earlier))
}

/** Starts a new complete list from time to time. */
function startOf(state: PullState, { keepSeconds }: KnownPeer, now: number): PullState {
  const { cursor: _cursor, etag: _etag, ...fresh } = state
  const isReading = state.listStartedAt !== undefined
  const isDue = (state.listedAt ?? 0) + Math.min(LIST_MS, (keepSeconds * 1000) / LISTS_PER_KEPT) <= now
  if (isReading || (state.cursor !== undefined && !isDue)) return state
  return { ...fresh, listStartedAt: now }
}
