import type { Marks } from '../store/store.js'
import { mayOperate } from './access.js'
import { type Caller, isAdmin } from './caller.js'

/** An owner's offer to hand an agent over. */
export interface TransferOffer {
  readonly agent: string
  /** The registration that is offered: a later one of the same name is not. */
  readonly number: number
  readonly from: string
  readonly to: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** How long an offer is open. */
export const OFFER_MS = 14 * 86_400_000

/** Whether the caller may give the agent away: its owner, not a tool that may only change it. */
export const mayOffer = (caller: Caller, agent: { id: string; owner: string }): boolean =>
  isAdmin(caller) || (caller.subject === agent.owner && mayOperate(caller, agent))

/** Whether the offer is made to the caller. */
export const isRecipient = (caller: Caller, offer: TransferOffer): boolean => caller.subject === offer.to

/** Whether the caller takes part in the transfer, so may read and end it. */
export const isParty = (caller: Caller, offer: TransferOffer): boolean =>
  isAdmin(caller) || isRecipient(caller, offer) || caller.subject === offer.from

/**
 * The marks under a new owner. What the operator said in favour of the agent was said of its former publisher and is
 * dropped; what warns of it stays, or a transfer would be a way to get rid of it. The signature is that of the document,
 * which does not change.
 */
export function marksAfterTransfer({ unsafe, status, signature }: Marks): Marks {
  return {
    ...(unsafe !== undefined && { unsafe }),
    ...(status !== undefined && { status }),
    ...(signature && { signature }),
  }
}
