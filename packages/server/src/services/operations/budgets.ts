import { DirectoryError } from '@switchboard/protocol'
import { type LimitTarget, limitId } from '../../policy/limits.js'
import { DAY_MS } from '../../store/limit-store.js'
import type { Store } from '../../store/store.js'
import type { Limits } from './limits.js'

/** Milliseconds until counts are written: what a crash can lose. */
const FLUSH_MS = 500
/** Milliseconds after which the total of all replicas is read again. */
const FRESH_MS = 1000

/** Counts the calls of a day (UTC) against the limits `calls_per_day`, for all replicas together. */
export interface Budgets {
  /** Counts calls of a subject to an agent, or throws `rate_limited` and counts none. A promise only if there is a limit. */
  spend(subject: string | undefined, agent: string, calls: number): Promise<void> | undefined
  /** Calls today, as far as they are counted: those of targets with a limit. */
  used(target: LimitTarget): Promise<number>
  /** Seconds until the next day. */
  readonly resetSeconds: number
  close(): Promise<void>
}

export interface BudgetsOptions {
  readonly store: Pick<Store, 'limits'>
  readonly limits: Pick<Limits, 'of' | 'ofAgent'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly monotonic: () => number
  /** Called when the calls of a day are used up. */
  readonly onRefused: (target: LimitTarget) => void
  readonly onError: (error: unknown) => void
}

interface Count {
  /** The total in the store when it was last read or written. */
  readonly stored: number
  /** Counted here since. */
  pending: number
  readonly readAt: number
}

/**
 * Counts in memory and adds the counts to the store in batches. Replicas can exceed a limit together by what they count
 * within about a second.
 */
export function createBudgets({ store, limits, now, monotonic, onRefused, onError }: BudgetsOptions): Budgets {
  let day = 0
  let counts = new Map<string, Count>()
  let timer: NodeJS.Timeout | undefined
  let turn: Promise<void> = Promise.resolve()

  /** Reads and writes one after another: a read must not see counts whose write has not been answered yet. */
  const inTurn = (step: () => Promise<void>): Promise<void> => {
    const done = turn.then(step)
    turn = done.catch(() => {})
    return done
  }
  const write = async (ofDay: number, ofCounts: Map<string, Count>): Promise<void> => {
    const sent = new Map([...ofCounts].flatMap(([key, { pending }]) => (pending > 0 ? [[key, pending]] : [])))
    const totals = await store.limits.addUsage(
      ofDay,
      [...sent].map(([key, calls]) => ({ key, calls })),
    )
    for (const { key, calls } of totals) {
      const pending = (ofCounts.get(key)?.pending ?? 0) - (sent.get(key) ?? 0)
      ofCounts.set(key, { stored: calls, pending, readAt: monotonic() })
    }
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const [ofDay, ofCounts] = [day, counts]
    return inTurn(() => write(ofDay, ofCounts)).catch(onError)
  }

  const enterDay = (): void => {
    const today = Math.floor(now() / DAY_MS)
    if (today === day) return
    void flush()
    day = today
    counts = new Map()
  }

  /** Reads the totals of keys whose total is not known, or old. */
  const read = async (ofDay: number, ofCounts: Map<string, Count>, keys: readonly string[]): Promise<void> => {
    const stale = keys.filter((key) => isStale(ofCounts.get(key)))
    if (stale.length === 0) return
    const found = new Map((await store.limits.usage(ofDay, stale)).map(({ key, calls }) => [key, calls]))
    for (const key of stale) {
      const pending = ofCounts.get(key)?.pending ?? 0
      ofCounts.set(key, { stored: found.get(key) ?? 0, pending, readAt: monotonic() })
    }
  }
  const isStale = (count: Count | undefined): boolean => !count || monotonic() - count.readAt > FRESH_MS

  /** If the store is down, callers whose count is known can go on. */
  const load = async (keys: readonly string[]): Promise<void> => {
    enterDay()
    const [ofDay, ofCounts] = [day, counts]
    if (!keys.some((key) => isStale(ofCounts.get(key)))) return
    try {
      await inTurn(() => read(ofDay, ofCounts, keys))
    } catch (error) {
      if (keys.some((key) => !ofCounts.has(key))) throw error
      onError(error)
    }
  }

  const usedOf = (key: string): number => {
    const { stored = 0, pending = 0 } = counts.get(key) ?? {}
    return stored + pending
  }
  const spendOf = async (budgets: readonly Budget[], calls: number): Promise<void> => {
    await load(budgets.map(({ key }) => key))
    for (const { target, key, limit, whose } of budgets) {
      const used = usedOf(key)
      if (used + calls <= limit) continue
      onRefused(target)
      const retryAfter = resetSeconds()
      throw new DirectoryError(
        'rate_limited',
        `${whose} ${limit} calls per day, of which ${used} have been made: try again in ${retryAfter} s, or ask the operator of this directory for a higher limit (calls_per_day)`,
        { retryAfter, members: { limit: { name: 'calls_per_day', limit, used } } },
      )
    }
    for (const { key } of budgets) {
      const count = counts.get(key)
      if (count) count.pending += calls
    }
    timer ??= setTimeout(() => void flush(), FLUSH_MS)
  }
  const resetSeconds = (): number => Math.max(1, Math.ceil(((Math.floor(now() / DAY_MS) + 1) * DAY_MS - now()) / 1000))

  return {
    get resetSeconds() {
      return resetSeconds()
    },
    async used(target) {
      const key = limitId(target)
      await load([key])
      return usedOf(key)
    },
    spend(subject, agent, calls) {
      const ofSubject = subject === undefined ? undefined : limits.of(subject, 'calls_per_day')?.value
      const ofAgent = limits.ofAgent(agent, 'calls_per_day')
      if (ofSubject === undefined && ofAgent === undefined) return undefined
      const budgets = [
        ...(subject === undefined || ofSubject === undefined
          ? []
          : [budgetOf({ kind: 'subject', name: subject }, ofSubject, 'you may make')]),
        ...(ofAgent === undefined ? [] : [budgetOf({ kind: 'agent', name: agent }, ofAgent, 'the agent gets')]),
      ]
      return spendOf(budgets, calls)
    },
    close: flush,
  }
}

type Budget = ReturnType<typeof budgetOf>

const budgetOf = (target: LimitTarget, limit: number, whose: string) => ({ target, key: limitId(target), limit, whose })
