import { isDeepStrictEqual } from 'node:util'
import { type AgentRecord, DirectoryError, sameJson } from '@switchboard/protocol'
import { chooseCopy, endOfCopy, isOpen } from '../../policy/federation.js'
import type { FederatedCopy } from '../../store/federation-store.js'
import type { AuditEntry, Lease, Marks } from '../../store/store.js'
import type { Context } from '../context.js'
import { stateOfRecord } from '../operations/audit-state.js'
import { type Agent, recordOf } from '../registry/catalog.js'
import { dropCopy, isCopy } from '../registry/copies.js'
import { timeOfChange } from '../registry/entity-tags.js'
import { accountOf } from '../registry/quotas.js'
import { asPublisher, isOwnerOfCopies, ownerOfCopies } from './accept-copy.js'
import type { KnownPeer, Peers } from './peers.js'
import { type PullState, silentSince } from './pull-state.js'

/** Shows the best copy of an agent in the directory, or none. An agent that is registered here stays as it is. */
export type ShowCopy = (id: string) => Promise<void>

export interface ShowCopyOptions {
  readonly context: Context
  readonly peers: Pick<Peers, 'get' | 'list'>
  /** How far a peer has been read. */
  readonly stateOf: (peer: KnownPeer) => PullState
}

/** A lease is renewed if it becomes longer by this share: not every renewal at the origin needs a write here. */
const RENEWED_SHARE = 0.25
/** Attempts while other replicas change the same agent; the next pull tries again. */
const MAX_ATTEMPTS = 5

export function createShowCopy({ context, peers, stateOf }: ShowCopyOptions): ShowCopy {
  const { store, catalog, mutex, now } = context
  const peerOf = peers.get

  /**
   * An origin that is a peer itself speaks for itself: what it has removed, and what the operator does not accept from
   * it, cannot come back through others. They are heeded only while it is out of reach.
   */
  const isHeeded = ({ peer, origin }: FederatedCopy): boolean => {
    const direct = peers.list().filter(({ url }) => url === origin.service)
    const isLost = (each: KnownPeer): boolean => {
      const state = stateOf(each)
      const isListed = state.listedAt !== undefined && silentSince(each, state, now()) === undefined
      return isOpen(each) && !isListed
    }
    return direct.some(({ name }) => name === peer) || direct.every(isLost)
  }

  const leaseOf = (copy: FederatedCopy): Lease => {
    const end = endOfCopy(copy, peerOf(copy.peer))
    return { seconds: Math.max(1, Math.floor((end - now()) / 1000)), expiresAt: end }
  }

  /** True when nothing is left to do. */
  const attempt = async (id: string): Promise<boolean> => {
    const existing = catalog.get(id)
    if (existing && !isCopy(existing)) return true
    const copies = await store.federation.of(id)
    const shown = existing?.stored.marks.origin?.service
    const best = chooseCopy(copies, { shown, peerOf, isHeeded, now: now() })
    if (!best) return !existing || dropCopy(context, existing, audit('federation.remove'))
    if (existing && existing.stored.marks.origin?.service !== best.origin.service) {
      // Another agent with the same id: it inherits nothing.
      return (await dropCopy(context, existing, audit('federation.remove'))) && create(best)
    }
    return existing ? update(best, existing) : create(best)
  }

  const create = async (copy: FederatedCopy): Promise<boolean> => {
    const owner = ownerOfCopies(copy.origin.service)
    const former = await store.tombstone({ id: copy.agent })
    // The name waits for its owner: a peer must not receive the calls of an agent that was offline for a moment.
    const isLapsed = former?.reason === 'expired' && !isOwnerOfCopies(former.owner)
    if (isLapsed && peerOf(copy.peer)?.trust !== 'full') return true
    return write(copy, former?.owner === owner ? former.marks : {}, undefined)
  }

  const update = async (copy: FederatedCopy, existing: Agent): Promise<boolean> => {
    const { stored } = existing
    const { format, document, marks } = stored
    const isSame = copy.format === format && sameJson(copy.document, document)
    if (!isSame || !marks.origin || isTold(copy.origin, marks.origin)) return write(copy, marks, existing)
    const lease = leaseOf(copy)
    if (!isWorthRenewing(lease, stored.lease, now())) return true
    if (!isDeepStrictEqual(copy.origin, marks.origin)) return write(copy, marks, existing)
    const at = now()
    const entry = { ...audit('federation.refresh'), at, agent: stored.id }
    const { id, number } = stored
    const result = await store.write({ kind: 'refresh', id, number, lease, at, audit: entry })
    if (result.outcome === 'done' && result.agent) catalog.apply(result.agent)
    return result.outcome === 'done'
  }

  const write = async (copy: FederatedCopy, marks: Marks, existing: Agent | undefined): Promise<boolean> => {
    const { agent: id, format, document, origin } = copy
    const owner = ownerOfCopies(origin.service)
    const record = recordOf({ id, format, document, marks: { origin } })
    const signature = await findingOf(record, marks, existing)
    const { signature: _former, origin: _earlier, ...own } = marks
    const at = timeOfChange(now(), existing?.stored.modifiedAt)
    const room = context.quotas.reserve(asPublisher(owner), accountOf({ owner, marks: { origin } }), document, existing)
    try {
      const result = await store.write({
        kind: 'put',
        id,
        expect: existing?.stored.revision,
        owner,
        format,
        document,
        ...room.counted,
        lease: leaseOf(copy),
        marks: { ...own, ...(signature && { signature }), origin },
        at,
        received: true,
        audit: {
          ...audit(existing ? 'federation.update' : 'federation.add'),
          at,
          agent: id,
          format,
          detail: `from ${origin.service}, through the peer ${origin.peer}`,
          after: stateOfRecord(record, owner),
        },
      })
      room.assertWithin(result)
      if (result.outcome === 'done' && result.agent) catalog.apply(result.agent, { record })
      return result.outcome === 'done'
    } finally {
      room.release()
    }
  }

  /** The publisher's signature, verified here: what another directory found out about it does not count. */
  const findingOf = async (
    record: AgentRecord,
    marks: Marks,
    existing: Agent | undefined,
  ): Promise<Marks['signature']> =>
    existing && sameJson(existing.record.document, record.document) ? marks.signature : context.verifySignature(record)

  return (id) =>
    mutex.run(id, async () => {
      for (let i = 0; i < MAX_ATTEMPTS; i++) {
        if (await attempt(id)) return
        await catalog.reload(id)
      }
      throw new DirectoryError('unavailable', `the agent "${id}" is being changed by too many processes at once`)
    })
}

/** Whether callers see another origin. Times at the origin alone are not worth a write. */
const isTold = (copy: FederatedCopy['origin'], shown: FederatedCopy['origin']): boolean => {
  const told = ({ peer, service, path, received_at, redacted, gateway, freshness, signed, signature }: typeof copy) => [
    ...[peer, service, path, received_at, redacted, gateway, freshness.indexed_at],
    ...[signed?.valid_until, signature === undefined],
  ]
  return !isDeepStrictEqual(told(copy), told(shown))
}

/** A shorter lifetime counts at once. */
function isWorthRenewing(lease: Lease, before: Lease | undefined, now: number): boolean {
  if (!before || lease.expiresAt < before.expiresAt) return true
  return lease.expiresAt - before.expiresAt > RENEWED_SHARE * (lease.expiresAt - now)
}

const audit = (action: string): Omit<AuditEntry, 'at'> => ({ actor: 'switchboard', action, outcome: 'ok' })
