import { StoreError } from '../../store/store-error.js'
import type { Context } from '../context.js'
import { loadAgents } from './load.js'

/** Applies what other processes write to the same store: replicas, and `keys reset-admin`. */
export interface Follower {
  /** Milliseconds since the last complete reading of the change log began. */
  lagMs(): number
  stop(): Promise<void>
}

export interface FollowOptions {
  context: Context
  cursor: string
  intervalMs: number
  reloadKeys: () => Promise<void>
  reloadGrants: () => Promise<void>
  reloadSecrets: () => Promise<unknown>
  reloadTrust: () => Promise<void>
  reloadLimits: () => Promise<void>
  onError: (error: unknown) => void
}

/** Polls the change log; changes that this process made itself are recognised and skipped. */
export function followStore({
  context,
  cursor,
  intervalMs,
  reloadKeys,
  reloadGrants,
  reloadSecrets,
  reloadTrust,
  reloadLimits,
  onError,
}: FollowOptions): Follower {
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  let stopped = false
  let readAt = performance.now()

  const poll = async (): Promise<void> => {
    try {
      await takeChanges()
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'cursor_lost')) throw error
      // The change log was pruned beyond our cursor: reload everything.
      cursor = await loadAgents(context.store, context.catalog)
      await Promise.all([reloadKeys(), reloadGrants(), reloadSecrets(), reloadTrust(), reloadLimits()])
    }
  }

  const takeChanges = async (): Promise<void> => {
    const { cursor: next, changes } = await context.store.changes(cursor)
    const stale = new Set<string>()
    for (const change of changes) {
      if (!('id' in change)) continue
      const known = context.catalog.get(change.id)
      const seen = known?.number === change.number && known.stored.revision >= change.revision
      if (change.kind === 'remove' ? known?.number === change.number : !seen) stale.add(change.id)
    }
    for (const id of stale) await context.catalog.reload(id)
    if (changes.some(({ kind }) => kind === 'keys')) await reloadKeys()
    if (changes.some(({ kind }) => kind === 'grants')) await reloadGrants()
    if (changes.some(({ kind }) => kind === 'secrets')) await reloadSecrets()
    if (changes.some(({ kind }) => kind === 'trust')) await reloadTrust()
    if (changes.some(({ kind }) => kind === 'limits')) await reloadLimits()
    cursor = next
  }

  const schedule = (): void => {
    if (stopped) return
    timer = setTimeout(() => {
      const started = performance.now()
      running = poll()
        .then(() => {
          readAt = started
        }, onError)
        .finally(schedule)
    }, intervalMs)
    timer.unref()
  }
  schedule()

  return {
    lagMs: () => performance.now() - readAt,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
