import type { PublisherSchemas, Strictness } from '@switchboard/protocol'
import { actorOf, type Caller } from '../policy/caller.js'
import type { NamePolicy } from '../policy/ownership.js'
import type { Taxonomy } from '../policy/taxonomy.js'
import type { VettingPolicy } from '../policy/vetting.js'
import type { GrantsOf } from '../policy/visibility.js'
import type { AuditEntry, Store } from '../store/store.js'
import type { AbuseWatch } from './discovery/abuse-watch.js'
import type { EmbeddingQueue } from './discovery/embedding-queue.js'
import type { AuditTrail } from './operations/audit-trail.js'
import type { Agent, Catalog } from './registry/catalog.js'
import type { KeyedMutex } from './registry/keyed-mutex.js'

/** What services work with; wired once, in app.ts. */
export interface Context {
  readonly store: Store
  readonly catalog: Catalog
  readonly embeddings: EmbeddingQueue
  readonly abuse: AbuseWatch
  /** False: a query's words order the answer and decide nothing (C-52). */
  readonly searchByText: boolean
  readonly taxonomy: Taxonomy
  /** One registration or update of an agent at a time, by its id. */
  readonly mutex: KeyedMutex
  readonly schemas: PublisherSchemas
  /** For what leaves no other trace in the store, such as calls. */
  readonly trail: AuditTrail
  /** What calls and ratings have shown of an agent, as a factor from 0.95 to 1.05; 1 if nothing, or if not learned from. */
  readonly reputationOf: (agent: Agent) => number
  readonly policy: NamePolicy & VettingPolicy & { readonly strictness: Strictness; readonly strictExamples: boolean }
  readonly grantsOf: GrantsOf
  readonly maxLifetime: number
  /** TLS, or a proxy that speaks it: nothing goes in the clear (C-72). */
  readonly production: boolean
  readonly now: () => number
  readonly newId: () => string
}

/** An audit entry of something that the caller did. */
export function auditOf(caller: Caller, action: string, at: number, more: Partial<AuditEntry> = {}): AuditEntry {
  return { at, actor: actorOf(caller), action, outcome: 'ok', requestId: caller.requestId, ...more }
}
