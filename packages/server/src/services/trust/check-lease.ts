import { randomUUID } from 'node:crypto'
import type { TrustStore } from '../../store/trust-store.js'

/** The right to make scheduled checks, which one process at a time has: replicas must not repeat each other's work. */
export interface CheckLease {
  /** Whether this process may check now; takes or renews the lease. */
  hold(): Promise<boolean>
  /** Lets another process continue at once. */
  release(): Promise<void>
}

export interface CheckLeaseOptions {
  readonly store: TrustStore
  /** What is checked. */
  readonly key: string
  readonly now: () => number
}

/** Milliseconds; if a process dies, another one takes over after this time. */
const LEASE_MS = 60_000

export function createCheckLease({ store, key, now }: CheckLeaseOptions): CheckLease {
  const holder = randomUUID()
  let until = 0
  /** Several kinds of checks may share the lease: those that ask at the same time must not compete for it. */
  let taking: Promise<boolean> | undefined

  const take = async (): Promise<boolean> => {
    const current = await store.get('lease', key)
    const isOurs = current?.value.holder === holder
    if (current && !isOurs && (current.expiresAt ?? 0) > now()) return false
    const expiresAt = now() + LEASE_MS
    const entry = {
      kind: 'lease',
      key,
      version: current?.version ?? 0,
      value: { holder },
      at: now(),
      expiresAt,
    } as const
    const isHeld = await store.put(entry)
    until = isHeld ? expiresAt : 0
    return isHeld
  }

  return {
    async hold() {
      // Renewed halfway, so that it does not lapse during a check.
      if (until - now() > LEASE_MS / 2) return true
      taking ??= take().finally(() => {
        taking = undefined
      })
      return taking
    },
    async release() {
      if (until === 0) return
      until = 0
      const current = await store.get('lease', key)
      if (current?.value.holder === holder) await store.put({ ...current, expiresAt: now() })
    },
  }
}
