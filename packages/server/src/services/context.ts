import type { PublisherSchemas, Strictness } from '@switchboard/protocol'
import type { GrantsOf, NamePolicy } from '../policy/access.js'
import { actorOf, type Caller } from '../policy/caller.js'
import type { Taxonomy } from '../policy/taxonomy.js'
import type { VettingPolicy } from '../policy/vetting.js'
import type { AuditEntry, Store } from '../store/store.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { Traces } from '../telemetry/traces.js'
import type { AbuseWatch } from './discovery/abuse-watch.js'
import type { EmbeddingQueue } from './discovery/embedding-queue.js'
import type { SearchCache } from './discovery/search-cache.js'
import type { SearchChoices } from './discovery/search-choices.js'
import type { AuditTrail } from './operations/audit-trail.js'
import type { StoreStatus } from './operations/store-status.js'
import type { Agent, Catalog } from './registry/catalog.js'
import type { HiddenAgents } from './registry/hidden-agents.js'
import type { KeyedMutex } from './registry/keyed-mutex.js'
import type { OwnAgents } from './registry/own-agents.js'
import type { Quotas } from './registry/quotas.js'
import type { Domains } from './trust/domains.js'
import type { VerifySignature } from './trust/verify-signature.js'

/** What services work with; built once, in app.ts. */
export interface Context {
  readonly store: Store
  readonly storeStatus: StoreStatus
  readonly catalog: Catalog
  readonly hidden: Pick<HiddenAgents, 'shownTo'>
  readonly quotas: Quotas
  readonly ownAgents: OwnAgents
  readonly embeddings: EmbeddingQueue
  readonly abuse: AbuseWatch
  /** False: the text of a query orders the results but does not filter them (C-52). */
  readonly searchByText: boolean
  readonly searches: SearchCache
  readonly taxonomy: Taxonomy
  /** Serialises registrations and updates of one agent, by its id. */
  readonly mutex: KeyedMutex
  readonly schemas: PublisherSchemas
  readonly metrics: Metrics
  /** Undefined: nothing is traced. */
  readonly traces: Traces | undefined
  /** For actions that change nothing else in the store, such as calls. */
  readonly trail: AuditTrail
  /** Score factor from calls and ratings, 0.95 to 1.05; 1 without evidence, or if the operator has switched it off. */
  readonly reputationOf: (agent: Agent) => number
  /** What callers choose after searches; undefined if the operator has switched learning off. */
  readonly choices: SearchChoices | undefined
  /** Score factor of agents that could not be reached; 1 for all others, or if they are not checked. */
  readonly availabilityOf: (agent: Agent) => number
  /** Score factor of agents of other directories, by the peer that supplies them; 1 for all others. */
  readonly originFactorOf: (agent: Agent) => number
  readonly policy: NamePolicy &
    VettingPolicy & {
      readonly strictness: Strictness
      readonly strictExamples: boolean
      readonly strictSignatures: boolean
      readonly requireDomainProof: boolean
    }
  readonly grantsOf: GrantsOf
  readonly verifySignature: VerifySignature
  readonly domains: Domains
  readonly maxLifetime: number
  /** Served by TLS, directly or by a proxy: unencrypted endpoints are rejected (C-72). */
  readonly production: boolean
  readonly now: () => number
  readonly newId: () => string
}

/** An audit entry for an action of the caller. */
export function auditOf(caller: Caller, action: string, at: number, more: Partial<AuditEntry> = {}): AuditEntry {
  return { at, actor: actorOf(caller), action, outcome: 'ok', requestId: caller.requestId, ...more }
}
