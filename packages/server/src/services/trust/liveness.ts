import { hash } from 'node:crypto'
import type { JsonObject } from '@switchboard/protocol'
import {
  afterHealthCheck,
  availabilityOf,
  type Health,
  isShownAnew,
  nextHealthCheck,
  showHealth,
} from '../../policy/health.js'
import type { TrustEntry, TrustStore } from '../../store/trust-store.js'
import type { Agent, Catalog, CatalogListener } from '../registry/catalog.js'
import { createDeadlines } from '../registry/deadlines.js'
import { checkedUrls, createCheckAgents } from './check-agents.js'
import type { CheckEndpoint, Reachability } from './check-endpoint.js'
import type { CheckLease } from './check-lease.js'

/** Finds out whether agents can be reached. Those that cannot stay listed, are marked and rank lower. */
export interface Liveness extends Required<Pick<CatalogListener, 'changed' | 'removed' | 'findings'>> {
  /** Score factor, 0 to 1. */
  factorOf(agent: Pick<Agent, 'number'>): number
  /** Checks agents that are due; a replica that may not check reads what the other one has found out. */
  run(signal: AbortSignal): Promise<void>
}

export interface LivenessOptions {
  readonly store: TrustStore
  readonly catalog: Pick<Catalog, 'byNumber' | 'get' | 'review'>
  readonly check: CheckEndpoint
  readonly lease: CheckLease
  readonly intervalMs: number
  readonly now: () => number
  readonly monotonic: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/** Agents that are checked at once. */
const BATCH = 32
/** A new agent is checked when it has had a minute to start. */
const FIRST_CHECK_MS = 60_000
/** How long the result of a removed agent is kept. */
const KEPT_MS = 30 * 86_400_000
/** Milliseconds between reads of what another replica has found out, and by which their clocks may differ. */
const SYNC_MS = 10_000
const OVERLAP_MS = 60_000

interface Watched {
  /** Tells the endpoints that were checked from those of a changed document. */
  readonly place: string
  readonly urls: readonly URL[]
  health?: Health
  /** What `verification` shows. */
  shown?: { readonly health: Health; readonly checkedAt: number }
}

export async function createLiveness(options: LivenessOptions): Promise<Liveness> {
  const { store, catalog, lease, intervalMs, now, monotonic, random } = options
  const checkAgents = createCheckAgents(options.check)
  const watched = new Map<number, Watched>()
  /** Results of agents that are not loaded yet, by id. */
  const stored = new Map<string, TrustEntry>()
  const deadlines = createDeadlines<number>()
  let waiting: number[] = []
  let syncedAt = Number.NEGATIVE_INFINITY

  const readEntries = async (since: number): Promise<TrustEntry[]> => {
    const entries = await store.list('health', since)
    for (const entry of entries) stored.set(entry.key, entry)
    return entries
  }
  await readEntries(0)

  const schedule = (number: number, inMs: number): void => deadlines.add(monotonic() + inMs, number)

  /** Takes over a result, and shows it if it differs from what is shown. */
  const adopt = (entry: Watched, health: Health): boolean => {
    const wasShown = entry.shown
    entry.health = health
    if (isShownAnew(wasShown, health)) entry.shown = { health, checkedAt: health.checkedAt }
    return entry.shown !== wasShown
  }

  const onResult = async (number: number, result: Reachability): Promise<void> => {
    const entry = watched.get(number)
    const agent = catalog.byNumber(number)
    if (!entry || !agent) return
    if (result === 'unknown') return schedule(number, intervalMs)
    const before = entry.health
    const health = afterHealthCheck(before, result === 'reachable', now())
    const isNews = adopt(entry, health)
    schedule(number, nextHealthCheck(health, intervalMs, random()))
    if (isNews || before?.failures !== health.failures) await save(agent.record.id, entry.place, health)
    if (isNews) catalog.review(number)
  }

  const save = async (id: string, place: string, health: Health): Promise<void> => {
    const value: JsonObject = { place, ...health }
    const version = stored.get(id)?.version ?? 0
    const entry: TrustEntry = { kind: 'health', key: id, version, value, at: now(), expiresAt: now() + KEPT_MS }
    if (await store.put(entry)) stored.set(id, { ...entry, version: version + 1 })
    else {
      // Another replica was faster, or the entry has been pruned.
      const current = await store.get('health', id)
      if (current) stored.set(id, current)
      else stored.delete(id)
    }
  }

  /** Reads what another replica has found out. */
  const sync = async (): Promise<void> => {
    if (now() - syncedAt < SYNC_MS) return
    const since = syncedAt - OVERLAP_MS
    syncedAt = now()
    for (const { key } of await readEntries(Math.max(0, since))) {
      const number = catalog.get(key)?.number
      const entry = number === undefined ? undefined : watched.get(number)
      const health = entry && healthOf(stored.get(key), entry.place)
      if (entry && health && number !== undefined && adopt(entry, health)) catalog.review(number)
    }
  }

  /** The entry of an agent, created when the agent is seen first. */
  const entryOf = ({ number, record }: Agent): Watched | undefined => {
    const urls = checkedUrls(record)
    if (urls.length === 0) return undefined
    const place = hash('sha256', JSON.stringify(urls.map(({ href }) => href)), 'base64url').slice(0, 16)
    const known = watched.get(number)
    if (known?.place === place) return known
    const entry: Watched = { place, urls }
    const health = healthOf(stored.get(record.id), place)
    if (health) adopt(entry, health)
    return entry
  }

  return {
    changed(agent, when) {
      const { number } = agent
      const entry = entryOf(agent)
      if (watched.get(number) === entry) return
      if (entry) watched.set(number, entry)
      else watched.delete(number)
      // After a start, the checks are spread over the interval.
      if (entry) schedule(number, when === 'later' ? intervalMs * random() : Math.min(FIRST_CHECK_MS, intervalMs))
      catalog.review(number)
    },
    removed: (number) => void watched.delete(number),
    findings({ number }) {
      const shown = watched.get(number)?.shown
      return shown ? { health: showHealth(shown.health, shown.checkedAt) } : {}
    },
    factorOf: ({ number }) => availabilityOf(watched.get(number)?.shown?.health),
    async run(signal) {
      if (waiting.length === 0) waiting = deadlines.takeUntil(monotonic()).filter((number) => watched.has(number))
      if (!(await lease.hold())) {
        // The other replica checks them; this one must be able to continue.
        for (const number of waiting) schedule(number, intervalMs)
        waiting = []
        return sync()
      }
      const batch = waiting.slice(0, BATCH)
      waiting = waiting.slice(BATCH)
      await checkAgents(
        batch.flatMap((number) => {
          const urls = watched.get(number)?.urls
          return urls ? [{ item: number, urls }] : []
        }),
        onResult,
        signal,
      )
    },
  }
}

/** The stored result, unless it is about other endpoints. */
function healthOf(entry: TrustEntry | undefined, place: string): Health | undefined {
  if (!entry || entry.value.place !== place) return undefined
  const { state, since, checkedAt, failures, failingSince } = entry.value
  return {
    state: state === 'unreachable' ? 'unreachable' : 'reachable',
    since: Number(since),
    checkedAt: Number(checkedAt),
    failures: Number(failures),
    ...(failingSince !== undefined && { failingSince: Number(failingSince) }),
  }
}
