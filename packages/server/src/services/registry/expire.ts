import type { Store } from '../../store/store.js'
import type { Agent, Catalog } from './catalog.js'
import { createDeadlines } from './deadlines.js'

/** Milliseconds between checks at most: timers do not notice when the clock jumps, such as after a suspend. */
const CHECK_MS = 250
/** Milliseconds to wait after the store failed. */
const RETRY_MS = 1000

/** Removes agents when their registration expires. */
export interface Expiry {
  /** Schedules the removal of an agent that has an expiry time. */
  changed(agent: Agent): void
  stop(): void
}

export interface ExpiryOptions {
  readonly store: Store
  readonly catalog: Catalog
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** One timer for the earliest deadline, so nothing is scanned. The store decides: another replica may have renewed. */
export function createExpiry(options: ExpiryOptions): Expiry {
  const { catalog, now, onError } = options
  const deadlines = createDeadlines<{ id: string; number: number }>()
  /** The earliest check scheduled for each agent. A renewal schedules nothing: that check finds the later deadline. */
  const scheduled = new Map<number, number>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const startTimer = (): void => {
    clearTimeout(timer)
    const next = deadlines.next()
    if (next === undefined || stopped) return
    timer = setTimeout(run, Math.min(Math.max(0, next - now()), CHECK_MS))
    timer.unref()
  }

  const run = (): void => {
    for (const { id, number } of deadlines.takeUntil(now())) {
      scheduled.delete(number)
      const agent = catalog.get(id)
      if (agent?.number !== number || agent.expiresAt === undefined) continue
      if (agent.expiresAt > now()) schedule(agent, agent.expiresAt)
      else {
        expireAgent(options, agent).catch((error: unknown) => {
          onError(error)
          schedule(agent, now() + RETRY_MS)
        })
      }
    }
    startTimer()
  }

  const schedule = ({ record, number }: Agent, at: number): void => {
    if ((scheduled.get(number) ?? Number.POSITIVE_INFINITY) <= at) return
    scheduled.set(number, at)
    deadlines.add(at, { id: record.id, number })
    if (deadlines.next() === at) startTimer()
  }

  return {
    changed(agent) {
      if (agent.expiresAt !== undefined) schedule(agent, agent.expiresAt)
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

async function expireAgent({ store, catalog, now }: ExpiryOptions, agent: Agent): Promise<void> {
  const { id, revision } = agent.stored
  const at = now()
  const result = await store.write({
    kind: 'remove',
    id,
    expect: revision,
    // The tombstone of a private agent must not reveal that it existed and expired.
    reason: agent.record.visibility === 'private' ? 'removed' : 'expired',
    at,
    // A renewed lease keeps the agent only if its document has not expired (C-40).
    ...((agent.record.expiresAt ?? Number.POSITIVE_INFINITY) > at && { ifLeaseOver: at }),
    audit: { at, actor: 'switchboard', action: 'expire', outcome: 'ok', agent: id },
  })
  if (result.outcome === 'done') catalog.drop(id, revision)
  else await catalog.reload(id)
}
