import { hash } from 'node:crypto'
import type { AgentRecord, JsonObject, JsonValue } from '@switchboard/protocol'
import type { Lease, Marks, StoredGrant, StoredKey } from '../../store/store.js'
import type { Agent } from '../registry/catalog.js'

/** Changed members that an entry lists. */
const MAX_MEMBERS = 30
/** Characters of a name or value in an entry. */
const MAX_TEXT = 100

/**
 * What the audit log keeps of an agent. Not its document, which may contain personal data and private members: a digest
 * proves which document it was.
 */
export const stateOf = ({
  record,
  owner,
  stored: { revision },
}: Pick<Agent, 'record' | 'owner' | 'stored'>): JsonObject => ({
  revision,
  ...stateOfRecord(record, owner),
})

/** The same of an agent that is about to be stored, so that it has no revision yet. */
export const stateOfRecord = (record: AgentRecord, owner: string): JsonObject => ({
  owner,
  digest: digestOfJson(record.document),
  visibility: record.visibility,
  ...(record.version !== undefined && { version: cut(record.version) }),
})

/** The state of an agent before and after an update; `changed` names the members of the document that differ. */
export function updateOf(
  existing: Agent,
  record: AgentRecord,
  owner: string,
): { before: JsonObject; after: JsonObject } {
  const changed = changedMembers(existing.record.document, record.document)
  return {
    before: stateOf(existing),
    after: {
      ...stateOfRecord(record, owner),
      ...(existing.record.format !== record.format && { format: record.format }),
      changed: changed.slice(0, MAX_MEMBERS).map(cut),
      ...(changed.length > MAX_MEMBERS && { changed_members: changed.length }),
    },
  }
}

function changedMembers(before: JsonObject, after: JsonObject): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).sort()
}

/** The end of a registration that expires unless it is refreshed. */
export const stateOfLease = (lease: Lease | undefined): JsonObject =>
  lease === undefined ? {} : { expires_at: new Date(lease.expiresAt).toISOString() }

/** The operator's marks of these names; a certification, which may be about persons, only as a digest. */
export function stateOfMarks(marks: Marks, names: readonly string[]): JsonObject {
  const { verification, certification, quality_score, unsafe, status } = marks
  const shown: JsonObject = {
    ...(verification && { verification: verification.state }),
    ...(certification && { certification: digestOfJson(certification) }),
    ...(quality_score !== undefined && { quality_score }),
    ...(unsafe !== undefined && { unsafe }),
    ...(status !== undefined && { status: cut(status) }),
  }
  return Object.fromEntries(Object.entries(shown).filter(([name]) => names.includes(name)))
}

/** A key without its hash. */
export const stateOfKey = ({ id, subject, scopes, names, expiresAt }: StoredKey): JsonObject => ({
  id,
  subject,
  scopes: scopes.slice(0, MAX_MEMBERS),
  ...(names && { names: names.slice(0, MAX_MEMBERS).map(cut) }),
  ...(expiresAt !== undefined && { expires_at: new Date(expiresAt).toISOString() }),
})

export const stateOfGrant = ({ id, subject, scopes, agent, tag }: StoredGrant): JsonObject => ({
  id,
  subject,
  scopes: scopes.slice(0, MAX_MEMBERS),
  ...(agent && { agent: agent.id }),
  ...(tag !== undefined && { tag: cut(tag) }),
})

/** The SHA-256 of the JSON text, as the store has it. */
const digestOfJson = (value: JsonValue): string => `sha256:${hash('sha256', JSON.stringify(value))}`

const cut = (text: string): string => text.slice(0, MAX_TEXT)
