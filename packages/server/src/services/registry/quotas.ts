import type { JsonObject } from '@switchboard/protocol'
import { type Caller, isAdmin } from '../../policy/caller.js'
import { assertWithinQuota, memoryOf, type Quota, type Usage } from '../../policy/quota.js'
import type { Agent, CatalogListener } from './catalog.js'

/** Counts what each owner has registered, from the catalog, and limits it. */
export interface Quotas extends Required<Pick<CatalogListener, 'changed' | 'removed'>> {
  usageOf(owner: string): Usage
  /**
   * Reserves room for a new agent, or for a document that replaces that of `existing`. Throws `quota_exceeded` if there is
   * none; administrators have no limits. Call the result once the write has been applied or has failed.
   */
  reserve(caller: Caller, owner: string, document: JsonObject, existing?: Agent): () => void
}

export interface QuotasOptions {
  /** The quota of an owner. */
  readonly quotaOf: (owner: string) => Quota
}

const NOTHING: Usage = { agents: 0, bytes: 0 }

/**
 * Creates the counters; subscribe them before agents are loaded. Replicas count on their own what they know of the store, so
 * an owner who registers through several at once can exceed its quota by what they write within a moment.
 */
export function createQuotas({ quotaOf }: QuotasOptions): Quotas {
  /** Registered, and reserved by writes in progress: concurrent requests must not all pass the same check. */
  const used = new Map<string, Usage>()

  const add = (owner: string, agents: number, bytes: number): void => {
    const before = used.get(owner) ?? NOTHING
    const after = { agents: before.agents + agents, bytes: before.bytes + bytes }
    if (after.agents === 0 && after.bytes === 0) used.delete(owner)
    else used.set(owner, after)
  }

  return {
    usageOf: (owner) => used.get(owner) ?? NOTHING,
    changed(agent, _when, before) {
      if (before) add(before.owner, -1, -before.memory)
      add(agent.owner, 1, agent.memory)
    },
    removed: (_number, agent) => add(agent.owner, -1, -agent.memory),
    reserve(caller, owner, document, existing) {
      if (isAdmin(caller)) return () => {}
      const agents = existing ? 0 : 1
      const bytes = memoryOf(document) - (existing?.memory ?? 0)
      assertWithinQuota(owner, quotaOf(owner), used.get(owner) ?? NOTHING, { agents, bytes })
      const reserved = Math.max(bytes, 0)
      add(owner, agents, reserved)
      return () => add(owner, -agents, -reserved)
    },
  }
}
