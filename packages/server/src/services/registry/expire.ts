import type { Context } from '../context.js'
import type { Agent } from './catalog.js'
import { createDeadlines } from './deadlines.js'

/** Clocks jump when a machine wakes up or is set right, and timers do not notice: the time is looked at this often. */
const LOOK_MS = 250
/** After a store that could not be asked. */
const RETRY_MS = 1000

/** Removes agents when their time is up. */
export interface Expiry {
  /** Remembers when the agent ends; a later call for the same agent counts. */
  watch(agent: Agent): void
  stop(): void
}

/** One timer for the earliest end; nothing is scanned. The store is asked first: another replica may have renewed. */
export function createExpiry(context: () => Context, onError: (error: unknown) => void): Expiry {
  const deadlines = createDeadlines<{ id: string; number: number }>()
  /** The earliest look planned for each agent: a renewal plans nothing, the look finds the later end. */
  const planned = new Map<number, number>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const schedule = (): void => {
    clearTimeout(timer)
    const next = deadlines.next()
    if (next === undefined || stopped) return
    timer = setTimeout(run, Math.min(Math.max(0, next - context().now()), LOOK_MS))
    timer.unref()
  }

  const run = (): void => {
    const { catalog, now } = context()
    const due = deadlines.takeUntil(now())
    for (const { id, number } of due) {
      planned.delete(number)
      const agent = catalog.get(id)
      if (agent?.number !== number || agent.expiresAt === undefined) continue
      if (agent.expiresAt > now()) plan(agent, agent.expiresAt)
      else {
        expireAgent(context(), agent).catch((error: unknown) => {
          onError(error)
          plan(agent, now() + RETRY_MS)
        })
      }
    }
    schedule()
  }

  const plan = ({ record, number }: Agent, at: number): void => {
    if ((planned.get(number) ?? Number.POSITIVE_INFINITY) <= at) return
    planned.set(number, at)
    deadlines.add(at, { id: record.id, number })
    if (deadlines.next() === at) schedule()
  }

  return {
    watch(agent) {
      if (agent.expiresAt !== undefined) plan(agent, agent.expiresAt)
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

async function expireAgent({ store, catalog, now }: Context, agent: Agent): Promise<void> {
  const { id, revision } = agent.stored
  const at = now()
  const result = await store.write({
    kind: 'remove',
    id,
    expect: revision,
    // Nobody is told that a private agent was there once and lapsed.
    reason: agent.record.visibility === 'private' ? 'removed' : 'expired',
    at,
    // Where the document itself has ended, a renewed lease does not help (C-40).
    ...((agent.record.expiresAt ?? Number.POSITIVE_INFINITY) > at && { ifLeaseOver: at }),
    audit: { at, actor: 'switchboard', action: 'expire', outcome: 'ok', agent: id },
  })
  if (result.outcome === 'done') catalog.drop(id, revision)
  else await catalog.reload(id)
}
