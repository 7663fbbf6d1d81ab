import { DirectoryError } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { CopyFilter, FederatedCopy } from '../../store/federation-store.js'
import { auditOf, type Context } from '../context.js'
import type { ShowCopy } from './show-copy.js'

/** Reviews of copies by operators. */
export interface Reviews {
  list(filter: CopyFilter): Promise<FederatedCopy[]>
  /** Accepts or rejects the copy of an agent; without a peer, the copies of all peers. */
  decide(review: Review, caller: Caller): Promise<readonly FederatedCopy[]>
}

export interface Review {
  readonly agent: string
  readonly peer?: string
  readonly decision: 'accepted' | 'rejected'
  /** The time of the copy that was reviewed: the peer may have replaced it since. */
  readonly receivedAt?: string
}

export function createReviews({ store, now }: Pick<Context, 'store' | 'now'>, showCopy: ShowCopy): Reviews {
  return {
    list: store.federation.list,
    async decide({ agent, peer, decision, receivedAt }, caller) {
      const copies = (await store.federation.of(agent)).filter((copy) => peer === undefined || copy.peer === peer)
      if (copies.length === 0)
        throw new DirectoryError('not_found', `no peer supplies an agent "${agent}"${peer ? ` through "${peer}"` : ''}`)
      if (receivedAt !== undefined && copies.some(({ origin }) => origin.received_at !== receivedAt))
        throw new DirectoryError('conflict', `a peer has changed the agent "${agent}" since then: review it again`)
      const decided = copies.map((copy) => ({ ...copy, state: decision }))
      await store.federation.put(decided)
      const detail = decided.map((copy) => copy.peer).join(', ')
      await store.appendAudit([auditOf(caller, `federation.${decision}`, now(), { agent, detail })])
      await showCopy(agent)
      return decided
    },
  }
}
