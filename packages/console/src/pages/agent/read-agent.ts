import {
  type AgentRecord,
  type Binding,
  callableOperations,
  type Example,
  type Operation,
  readRecord,
} from '@switchboard/protocol/documents'
import { asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import { parseTimestamp } from '@switchboard/protocol/timestamps'
import { directory } from '../../app/api.js'

/** An agent as its page shows it. */
export interface AgentDetails {
  readonly record: AgentRecord
  readonly operations: readonly Operation[]
  readonly bindings: readonly Binding[]
  readonly examples: readonly Example[]
  /** Versions besides the latest one. */
  readonly olderVersions: readonly string[]
  /** What the directory says about it. */
  readonly verification: JsonObject
  readonly provenance: JsonObject | undefined
  readonly isRedacted: boolean
  /** Milliseconds since 1970. */
  readonly receivedAt: number | undefined
  readonly changedAt: number | undefined
  readonly expiresAt: number | undefined
}

/** Reads what the directory knows about an agent: its metadata, and from the profile its bindings, examples and times. */
export async function readAgent(id: string, signal: AbortSignal): Promise<AgentDetails> {
  const [metadata, profile] = await Promise.all([
    directory.get(id, { signal }),
    directory.get(id, { signal, view: 'profile' }),
  ])
  return toAgentDetails(id, metadata, profile)
}

export function toAgentDetails(id: string, metadata: JsonObject, profile: JsonObject): AgentDetails {
  const record = readRecord('aidip', metadata, id)
  const { bindings, examples } = readRecord('profile', profile, id)
  const freshness = isObject(profile.freshness) ? profile.freshness : {}
  const { supportedVersions, verification, provenance } = metadata
  return {
    record,
    operations: callableOperations(record),
    bindings,
    examples,
    olderVersions: isObject(supportedVersions)
      ? Object.keys(supportedVersions).filter((version) => version !== record.version)
      : [],
    verification: isObject(verification) ? verification : {},
    provenance: isObject(provenance) ? provenance : undefined,
    isRedacted: metadata.redacted === true,
    receivedAt: timeOf(freshness.received_at),
    changedAt: timeOf(freshness.metadata_updated_at) ?? timeOf(freshness.indexed_at),
    expiresAt: timeOf(freshness.expires_at),
  }
}

export const timeOf = (value: JsonValue | undefined): number | undefined => parseTimestamp(asString(value) ?? '')
