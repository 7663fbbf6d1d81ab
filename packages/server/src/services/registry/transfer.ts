import { asString, DirectoryError, invalid, subjectProblem } from '@switchboard/protocol'
import { assertCovered, maySee } from '../../policy/access.js'
import { type Caller, hasScope, isAdmin } from '../../policy/caller.js'
import {
  isParty,
  isRecipient,
  marksAfterTransfer,
  mayOffer,
  OFFER_MS,
  type TransferOffer,
} from '../../policy/transfer.js'
import { assertClaims } from '../../policy/vetting.js'
import type { TrustEntry } from '../../store/trust-store.js'
import { auditOf, type Context } from '../context.js'
import { stateOf, stateOfMarks, stateOfRecord } from '../operations/audit-state.js'
import type { Agent } from './catalog.js'
import { assertNotCopy } from './copies.js'
import { assertMayOwn } from './may-own.js'
import type { Reservation } from './quotas.js'
import { unknownAgent } from './read.js'
import { type Rewrite, rewriteAgent } from './rewrite.js'

/** The result of a request to hand an agent over: an offer, or the agent if an administrator transferred it at once. */
export type Transfer = { readonly offer: TransferOffer } | { readonly agent: Agent }

interface OpenOffer {
  readonly offer: TransferOffer
  readonly version: number
}

/** Offers an agent to another owner, in place of an earlier offer. An administrator transfers it at once. */
export async function offerAgent(context: Context, id: string, to: string, caller: Caller): Promise<Transfer> {
  const agent = context.catalog.get(id)
  if (!agent || !maySee(agent, caller, context.grantsOf)) throw unknownAgent(id)
  if (!mayOffer(caller, { id, owner: agent.owner }))
    throw new DirectoryError('forbidden', `the agent "${id}" belongs to another publisher`)
  assertNotCopy(agent)
  assertRecipient(agent, to)
  const transfer = { agent: id, number: agent.number, from: agent.owner, to }
  if (isAdmin(caller)) return { agent: await changeOwner(context, transfer, caller) }
  const at = context.now()
  const offer = { ...transfer, expiresAt: at + OFFER_MS }
  const audit = auditOf(caller, 'transfer.offer', at, { agent: id, detail: `to ${to}` })
  for (;;) {
    const earlier = await context.store.trust.get('transfer', id)
    if (await context.store.trust.put(toEntry(offer, earlier?.version ?? 0, at), audit)) return { offer }
  }
}

/** The open offer of an agent; throws `not_found` for callers who do not take part in it. */
export async function readOffer(context: Context, id: string, caller: Caller): Promise<TransferOffer> {
  return (await findOffer(context, id, caller)).offer
}

/** The open offers from and to the caller, the newest first; all of them for an administrator. */
export async function listOffers(context: Context, caller: Caller): Promise<TransferOffer[]> {
  const now = context.now()
  return (await context.store.trust.list('transfer'))
    .map(toOffer)
    .filter((offer) => isParty(caller, offer) && isOpen(offer, context.catalog.get(offer.agent), now))
    .sort((a, b) => b.expiresAt - a.expiresAt || (a.agent < b.agent ? -1 : 1))
}

async function findOffer(context: Context, id: string, caller: Caller): Promise<OpenOffer> {
  const agent = context.catalog.get(id)
  const entry = agent && (await context.store.trust.get('transfer', id))
  const offer = entry && toOffer(entry)
  if (offer && isOpen(offer, agent, context.now()) && isParty(caller, offer)) return { offer, version: entry.version }
  throw noOffer(context, id, caller)
}

/** The recipient accepts an offer: it owns the agent when the promise resolves. */
export async function acceptAgent(context: Context, id: string, caller: Caller): Promise<Agent> {
  const { offer, version } = await findOffer(context, id, caller)
  const agent = context.catalog.get(id)
  if (!agent || !isRecipient(caller, offer)) throw noOffer(context, id, caller)
  if (!hasScope(caller, 'publish')) throw new DirectoryError('forbidden', 'owning an agent needs the publish scope')
  assertCovered(caller, id)
  assertClaims(agent.record, caller, context.policy)
  assertMayOwn(context, id, offer.to, caller)
  const room = context.quotas.reserve(caller, offer.to, agent.record.document)
  try {
    // Taken first, so that an offer that is being withdrawn or replaced cannot be accepted.
    await endOffer(context, { offer, version }, 'transfer.accept', caller)
    return await changeOwner(context, offer, caller, room)
  } finally {
    room.release()
  }
}

/** The owner withdraws an offer, or the recipient declines it. */
export async function withdrawOffer(context: Context, id: string, caller: Caller): Promise<void> {
  const { offer, version } = await findOffer(context, id, caller)
  await endOffer(
    context,
    { offer, version },
    isRecipient(caller, offer) ? 'transfer.decline' : 'transfer.withdraw',
    caller,
  )
}

async function endOffer(
  context: Context,
  { offer, version }: OpenOffer,
  action: string,
  caller: Caller,
): Promise<void> {
  const detail = `from ${offer.from} to ${offer.to}`
  const audit = auditOf(caller, action, context.now(), { agent: offer.agent, detail })
  if (!(await context.store.trust.delete({ kind: 'transfer', key: offer.agent, version }, audit)))
    throw noOffer(context, offer.agent, caller)
}

/** Everything that belongs to the former owner stays behind: grants, credentials, statistics, proofs (CONTRACT). */
function changeOwner(
  context: Context,
  { agent: id, number, from, to }: Omit<TransferOffer, 'expiresAt'>,
  caller: Caller,
  room?: Reservation,
): Promise<Agent> {
  const change = (agent: Agent, at: number): Rewrite => {
    if (agent.number !== number) throw unknownAgent(id)
    if (agent.owner !== from)
      throw new DirectoryError('conflict', `the agent "${id}" has been transferred in the meantime`)
    const { marks } = agent.stored
    return {
      owner: to,
      marks: marksAfterTransfer(marks),
      // It was renewed by crawling its site, which ends with the transfer.
      ...(marks.crawled && { lease: 'none' }),
      audit: auditOf(caller, 'transfer', at, {
        agent: id,
        before: { ...stateOf(agent), ...stateOfMarks(marks, Object.keys(marks)) },
        after: stateOfRecord(agent.record, to),
      }),
    }
  }
  return rewriteAgent(context, id, change, room)
}

function assertRecipient({ owner }: Agent, to: string): void {
  const problem = to === owner ? 'is the owner already: name another one' : subjectProblem(to)
  if (problem !== undefined) throw invalid([{ at: '/to', message: problem }])
}

/** The same for everybody who takes no part in a transfer, whether or not there is one. */
function noOffer({ catalog, grantsOf }: Context, id: string, caller: Caller): DirectoryError {
  const agent = catalog.get(id)
  if (!agent || !maySee(agent, caller, grantsOf)) return unknownAgent(id)
  return new DirectoryError('not_found', `there is no offer to transfer the agent "${id}" from or to you`)
}

/** An offer ends with its time, and when the agent is removed or has another owner. */
const isOpen = (offer: TransferOffer, agent: Agent | undefined, now: number): boolean =>
  offer.expiresAt > now && agent?.number === offer.number && agent.owner === offer.from

const toEntry = ({ agent, number, from, to, expiresAt }: TransferOffer, version: number, at: number): TrustEntry => ({
  kind: 'transfer',
  key: agent,
  version,
  value: { number, from, to },
  at,
  expiresAt,
})

const toOffer = ({ key, value, expiresAt = 0 }: TrustEntry): TransferOffer => ({
  agent: key,
  number: Number(value.number),
  from: asString(value.from) ?? '',
  to: asString(value.to) ?? '',
  expiresAt,
})
