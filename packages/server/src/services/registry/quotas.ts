import type { JsonObject } from '@switchboard/protocol'
import { type Caller, isAdmin } from '../../policy/caller.js'
import { assertWithinQuota, memoryOf, type Quota } from '../../policy/quota.js'
import { FEDERATION, QUALIFIER } from '../../policy/subjects.js'
import type { StoredAgent, Usage, WriteResult } from '../../store/store.js'
import type { Agent, CatalogListener } from './catalog.js'

/**
 * Counts what each owner has registered, from the catalog, and limits it. Copies of other directories' agents count for
 * the peer that supplies them: it may name any number of origins.
 */
export interface Quotas extends Required<Pick<CatalogListener, 'changed' | 'removed'>> {
  usageOf(owner: string): Usage
  quotaOf(owner: string): Quota
  /**
   * Reserves room for a new agent, or for a document that replaces that of `existing`. Throws `quota_exceeded` if there is
   * none; administrators have no limits.
   *
   * @param owner the owner, or `accountOf` a copy
   */
  reserve(caller: Caller, owner: string, document: JsonObject, existing?: Agent): Reservation
}

export interface Reservation {
  /** For the write: bytes of the document, and the quota that the store has to check because other replicas write too. */
  readonly counted: { readonly memory: number; readonly quota?: Quota }
  /** Throws `quota_exceeded` if the store found that the quota is exceeded. */
  assertWithin(result: WriteResult): void
  /** To be called once the write has been applied or has failed. */
  release(): void
}

export interface QuotasOptions {
  /** The quota of an owner. */
  readonly quotaOf: (owner: string) => Quota
  /** Whether other replicas may write now. */
  readonly isShared: () => boolean
}

/** The account whose quota an agent uses: that of its owner, or of the peer that supplies it. */
export const accountOf = ({ owner, marks: { origin } }: Pick<StoredAgent, 'owner' | 'marks'>): string =>
  origin ? FEDERATION + QUALIFIER + origin.peer : owner

const NOTHING: Usage = { agents: 0, bytes: 0 }

/**
 * Creates the counters; subscribe them before agents are loaded. What other replicas have written in the last moments is not
 * counted here yet: if there are any, the store checks the quota again, together with the write.
 */
export function createQuotas({ quotaOf, isShared }: QuotasOptions): Quotas {
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
    quotaOf,
    changed(agent, _when, before) {
      if (before) add(accountOf(before.stored), -1, -before.memory)
      add(accountOf(agent.stored), 1, agent.memory)
    },
    removed: (_number, agent) => add(accountOf(agent.stored), -1, -agent.memory),
    reserve(caller, owner, document, existing) {
      const memory = memoryOf(document)
      if (isAdmin(caller)) return { counted: { memory }, assertWithin() {}, release() {} }
      const agents = existing ? 0 : 1
      const bytes = memory - (existing?.memory ?? 0)
      const quota = quotaOf(owner)
      assertWithinQuota(owner, quota, used.get(owner) ?? NOTHING, { agents, bytes })
      const reserved = Math.max(bytes, 0)
      add(owner, agents, reserved)
      return {
        counted: { memory, ...(isShared() && { quota }) },
        assertWithin(result) {
          if (result.outcome === 'over_quota') assertWithinQuota(owner, quota, result.usage, result.growth)
        },
        release: () => add(owner, -agents, -reserved),
      }
    },
  }
}
