import { setTimeout as pause } from 'node:timers/promises'
import { StoreError } from '../../store/store-error.js'
import type { Context } from '../context.js'
import { loadAgents } from './load.js'

/** Milliseconds in which those who want to catch up come together, so that they cannot flood the store. */
const TOGETHER_MS = 10

/** Applies what other processes write to the same store: replicas, and `keys reset-admin`. */
export interface Follower {
  /** Milliseconds since the last complete reading of the change log began. */
  lagMs(): number
  /** Resolves when everything is applied that was committed before the call; rejects if the store cannot be read. */
  catchUp(): Promise<void>
  stop(): Promise<void>
}

export interface FollowOptions {
  context: Context
  cursor: string
  intervalMs: number
  reloadKeys: () => Promise<void>
  reloadGrants: () => Promise<void>
  reloadSecrets: () => Promise<unknown>
  reloadTrust: () => Promise<unknown>
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
  /** Polls, one after another. */
  let running = Promise.resolve()
  /** A poll that somebody waits for and that has not started. */
  let requested: Promise<void> | undefined
  let stopped = false
  let readAt = performance.now()

  const poll = async (): Promise<void> => {
    const startedAt = context.now()
    try {
      await takeChanges()
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'cursor_lost')) throw error
      // The change log does not continue: reload everything. Once more if that fails halfway, so the cursor comes last.
      const next = await loadAgents(context.store, context.catalog)
      await Promise.all([reloadKeys(), reloadGrants(), reloadSecrets(), reloadTrust(), reloadLimits()])
      cursor = next
    }
    context.storeStatus.synced(startedAt)
  }

  const fail = (error: unknown): void => {
    context.storeStatus.missed()
    onError(error)
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

  const run = (): Promise<void> => {
    const done = running.then(async () => {
      const started = performance.now()
      await poll()
      readAt = started
    })
    running = done.catch(() => {})
    return done
  }

  const schedule = (): void => {
    if (stopped) return
    timer = setTimeout(() => void run().catch(fail).finally(schedule), intervalMs)
    timer.unref()
  }
  schedule()

  return {
    lagMs: () => performance.now() - readAt,
    catchUp() {
      requested ??= pause(TOGETHER_MS).then(() => {
        requested = undefined
        return run()
      })
      return requested
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
