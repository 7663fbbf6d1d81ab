import { requireStorable, storableAudit } from './storable.js'
import type { AgentWrite, Lease, StoredAgent } from './store.js'

type Put = Extract<AgentWrite, { kind: 'put' }>

/** A put whose JSON is text already, as both databases keep it. */
export type PreparedPut = Omit<Put, 'document' | 'marks'> & { document: string; marks: string }
export type PreparedWrite = PreparedPut | Exclude<AgentWrite, Put>

/** What a write is decided on: the agent as it stands, held so that nobody changes it meanwhile. */
export interface CurrentAgent {
  number: number
  revision: number
  createdAt: number
  receivedAt: number
  lease: Lease | undefined
}

/** Refuses what no database can keep here, in the hands of its caller and not in the midst of a batch. */
export function prepareWrite(write: AgentWrite): PreparedWrite {
  const audit = storableAudit(write.audit)
  requireStorable(write.id)
  if (write.kind !== 'put') return { ...write, audit }
  requireStorable(write.owner)
  return { ...write, audit, document: JSON.stringify(write.document), marks: JSON.stringify(write.marks) }
}

/** Whether the agent has changed since the write was decided. */
export function isConflict(write: PreparedWrite, current: CurrentAgent | undefined): boolean {
  switch (write.kind) {
    case 'put':
      return write.expect !== current?.revision
    case 'refresh':
      return write.number !== current?.number
    case 'remove':
      return write.expect !== current?.revision || isRenewed(current, write.ifLeaseOver)
  }
}

/** Without a lease there is nothing that could have been renewed. */
const isRenewed = (current: CurrentAgent, ifLeaseOver: number | undefined): boolean =>
  ifLeaseOver !== undefined && current.lease !== undefined && current.lease.expiresAt > ifLeaseOver

/** The times of an agent after a put: it keeps when it was first seen, and when it was last heard if it was not now. */
export function timesAfterPut(
  put: { at: number; received: boolean },
  current: CurrentAgent | undefined,
): { createdAt: number; receivedAt: number } {
  return {
    createdAt: current?.createdAt ?? put.at,
    receivedAt: put.received ? put.at : (current?.receivedAt ?? put.at),
  }
}

/** The lease of an agent after a put or a refresh. */
export const leaseAfter = (write: { lease: Lease | 'keep' }, current: CurrentAgent | undefined): Lease | undefined =>
  write.lease === 'keep' ? current?.lease : write.lease

/** The agent as a put has stored it. */
export function agentAfterPut(
  put: Put,
  stored: { number: number; revision: number; createdAt: number; receivedAt: number; lease: Lease | undefined },
): StoredAgent {
  return {
    id: put.id,
    number: stored.number,
    owner: put.owner,
    format: put.format,
    document: put.document,
    revision: stored.revision,
    createdAt: stored.createdAt,
    modifiedAt: put.at,
    receivedAt: stored.receivedAt,
    ...(stored.lease && { lease: stored.lease }),
    marks: put.marks,
  }
}
