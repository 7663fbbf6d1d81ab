import {
  type AgentRecord,
  isObject,
  type JsonObject,
  type Provenance,
  parseTimestamp,
  type RegistryFacts,
  verificationFor,
} from '@switchboard/protocol'
import type { Origin } from '../../store/federation-store.js'
import type { StoredAgent } from '../../store/store.js'
import type { Agent, Findings } from './catalog.js'

/** What the directory knows about an agent, as views show it. */
export function toFacts(
  { stored, expiresAt, findings }: Agent,
  baseUrl: string,
  maxLifetime: number,
  warnings: readonly JsonObject[],
): RegistryFacts {
  const { certification, quality_score: qualityScore, unsafe, status, origin } = stored.marks
  // The lease of a copy also limits how long it is kept if nothing is heard of its peer.
  const end = origin ? timeOf(origin.freshness.expires_at) : expiresAt
  return {
    baseUrl,
    number: stored.number,
    verification: {
      ...verificationOf(stored),
      ...findings.members,
      ...(warnings.length > 0 && { warnings: [...warnings] }),
    },
    lifetime: stored.lease?.seconds ?? maxLifetime,
    // The freshness of a copy is that of its origin (PROF §10).
    receivedAt: timeOf(origin?.freshness.received_at) ?? stored.receivedAt,
    modifiedAt: timeOf(origin?.freshness.indexed_at) ?? stored.modifiedAt,
    ...(origin && { provenance: toProvenance(origin, findings) }),
    ...(certification && { certification }),
    ...(qualityScore !== undefined && { qualityScore }),
    ...(unsafe !== undefined && { unsafe }),
    ...(status !== undefined && { status }),
    ...(end !== undefined && { expiresAt: end }),
  }
}

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : parseTimestamp(text))

/** Where an agent of another directory comes from, as views show it. */
export function toProvenance(
  { service, authority, signature, path, received_at }: Origin,
  { members }: Findings,
): Provenance {
  return {
    origin_service: service,
    origin_authority: authority,
    ...(signature && { origin_signature: { ...signature } }),
    received_at,
    path,
    ...(isObject(members.peer) && members.peer),
  }
}

/** The operator's marks and the findings as filters see them; they override the document. */
export function registryOf(stored: StoredAgent, shown: AgentRecord, findings: Findings): JsonObject {
  if (findings.tag === '' && Object.keys(stored.marks).length === 0) return UNMARKED
  const { verification: _verification, status: _status, signature: _signature, origin, ...marks } = stored.marks
  return {
    verification: {
      ...verificationFor(shown, { verification: verificationOf(stored) }),
      ...findings.members,
      ...marks,
    },
    ...(origin && { origin_service: origin.service }),
  }
}

/** The same object for almost all agents. */
const UNMARKED: JsonObject = Object.freeze({ verification: Object.freeze({ state: 'self-asserted' }) })

/**
 * Only the operator verifies an agent; a publisher's own claim does not count (C-23). A valid signature says who wrote the
 * document, not that the operator trusts them.
 */
function verificationOf({ marks }: StoredAgent): JsonObject {
  return {
    ...(marks.verification ?? { state: 'self-asserted' }),
    ...(marks.signature && { signature: { ...marks.signature } }),
    ...(marks.crawled && { crawled: { ...marks.crawled } }),
  }
}
