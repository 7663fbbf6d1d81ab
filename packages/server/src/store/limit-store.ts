import type { AuditEntry } from './store.js'

/** Limits that operators set, and the usage of daily budgets. */
export interface LimitStore {
  list(): Promise<StoredLimit[]>
  /** Replaces the rule with this id. */
  put(limit: StoredLimit, audit: AuditEntry): Promise<void>
  delete(id: string, audit: AuditEntry): Promise<boolean>
  /** Adds to the counts of a day, at most one entry for each key; returns the new totals, of all replicas. */
  addUsage(day: number, counts: readonly UsageCount[]): Promise<UsageCount[]>
  /** The counts of these keys on a day; keys without any are left out. */
  usage(day: number, keys: readonly string[]): Promise<UsageCount[]>
}

export interface StoredLimit {
  /** Names the target: one rule for each. */
  id: string
  kind: 'subject' | 'scope' | 'agent'
  name: string
  values: Record<string, number>
  createdAt: number
}

/** Calls of a subject or to an agent. */
export interface UsageCount {
  key: string
  calls: number
}

/** Days are counted from 1970, in UTC. */
export const DAY_MS = 86_400_000
