import { textOf } from '@switchboard/protocol/stored-documents'
import { type AuditRow, toAuditRow } from './audit-row.js'
import { requireStorable } from './storable.js'
import type { AgentWrite, Lease, StoredAgent } from './store.js'

type Put = Extract<AgentWrite, { kind: 'put' }>

/** A put without its document, and with the marks as JSON text. */
export type PreparedPut = Omit<Put, 'document' | 'marks' | 'audit'> & { marks: string; audit: AuditRow }
export type PreparedChange = PreparedPut | Audited<Extract<AgentWrite, { kind: 'refresh' | 'remove' }>>
type Audited<Write> = Write extends AgentWrite ? Omit<Write, 'audit'> & { audit: AuditRow } : never

/**
 * A write that has been checked and serialised. The document is JSON text, as both databases keep it; it is kept apart
 * from the rest, so that drivers can send it as it is instead of quoting it inside another JSON text.
 */
export interface PreparedWrite {
  change: PreparedChange
  /** Set for a put only. */
  document?: string
}

/** The stored state that a write is checked against, locked until the write is done. */
export interface CurrentAgent {
  number: number
  owner: string
  revision: number
  createdAt: number
  receivedAt: number
  lease: Lease | undefined
}

/** Rejects text that the databases cannot store, before the write joins a batch. */
export function prepareWrite(write: AgentWrite): PreparedWrite {
  const audit = toAuditRow(write.audit)
  requireStorable(write.id)
  if (write.kind !== 'put') return { change: { ...write, audit } }
  requireStorable(write.owner)
  const { document, marks, ...put } = write
  return { change: { ...put, audit, marks: JSON.stringify(marks) }, document: textOf(document) }
}

/** Whether the agent has changed since the revision that the write is based on. */
export function isConflict(write: PreparedChange, current: CurrentAgent | undefined): boolean {
  switch (write.kind) {
    case 'put':
      return write.expect !== current?.revision
    case 'refresh':
      return write.number !== current?.number
    case 'remove':
      return write.expect !== current?.revision || isRenewed(current, write.ifLeaseEnds)
  }
}

/** An agent without a lease cannot have been renewed. */
const isRenewed = (current: CurrentAgent, ifLeaseEnds: number | undefined): boolean =>
  ifLeaseEnds !== undefined && current.lease !== undefined && current.lease.expiresAt !== ifLeaseEnds

/** Timestamps after a put: `createdAt` never changes, `receivedAt` only if the owner sent the write. */
export function timesAfterPut(
  put: { at: number; received: boolean },
  current: CurrentAgent | undefined,
): { createdAt: number; receivedAt: number } {
  return {
    createdAt: current?.createdAt ?? put.at,
    receivedAt: put.received ? receivedAfter(put, current) : (current?.receivedAt ?? put.at),
  }
}

/** `receivedAt` never decreases, even if a clock is set back, because the catalog tells refreshes apart by it. */
export const receivedAfter = (write: { at: number }, current: CurrentAgent | undefined): number =>
  Math.max(write.at, current?.receivedAt ?? write.at)

/** Whether a put gives the name to an owner who did not have it before: data of an earlier owner must be dropped. */
export const hasNewOwner = (put: { owner: string }, current: CurrentAgent | undefined): boolean =>
  put.owner !== current?.owner

/** The lease of an agent after a put or a refresh. */
export function leaseAfter(
  { lease }: { lease: Lease | 'keep' | 'none' },
  current: CurrentAgent | undefined,
): Lease | undefined {
  if (lease === 'none') return undefined
  return lease === 'keep' ? current?.lease : lease
}

/** The agent as stored by a put. */
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
