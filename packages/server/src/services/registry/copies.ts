import { DirectoryError, parseTimestamp } from '@switchboard/protocol'
import type { AuditEntry } from '../../store/store.js'
import type { Context } from '../context.js'
import type { Agent } from './catalog.js'
import { timeOfChange } from './entity-tags.js'

/** Whether the agent is registered at another directory, and this one has a copy. */
export const isCopy = ({ stored }: Pick<Agent, 'stored'>): boolean => stored.marks.origin !== undefined

/** Milliseconds: when the owner last registered or refreshed the agent; of a copy, according to its origin. */
export const confirmedAt = ({ stored }: Pick<Agent, 'stored'>): number =>
  parseTimestamp(stored.marks.origin?.freshness.received_at ?? '') ?? stored.receivedAt

/** Throws `conflict` if the agent is a copy: it can be changed only where it is registered. */
export function assertNotCopy({ record, stored }: Agent): void {
  if (!stored.marks.origin) return
  throw new DirectoryError(
    'conflict',
    `the agent "${record.id}" is registered at ${stored.marks.origin.service}: change it there, or reject the copy with POST /admin/quarantine`,
  )
}

/** Removes a copy; false if it has changed meanwhile. */
export async function dropCopy(
  { store, catalog, now }: Context,
  { stored }: Agent,
  audit: Omit<AuditEntry, 'at'>,
): Promise<boolean> {
  const { id, revision, modifiedAt } = stored
  const at = timeOfChange(now(), modifiedAt)
  const result = await store.write({
    kind: 'remove',
    id,
    expect: revision,
    reason: 'removed',
    at,
    audit: { ...audit, at, agent: id },
  })
  if (result.outcome === 'done') catalog.drop(id, revision)
  return result.outcome === 'done'
}
