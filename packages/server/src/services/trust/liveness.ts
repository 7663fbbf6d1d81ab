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
import type { Agent, Catalog, CatalogListener } from '../registry/catalog.js'
import { checkedUrls, createCheckAgents } from './check-agents.js'
import type { CheckEndpoint, Reachability } from './check-endpoint.js'
import type { CheckQueue } from './check-queue.js'
import type { SharedResults } from './shared-results.js'

/** Finds out whether agents can be reached. Those that cannot stay listed, are marked and rank lower. */
export interface Liveness extends Required<Pick<CatalogListener, 'changed' | 'removed' | 'findings'>> {
  /** Score factor, 0 to 1. */
  factorOf(agent: Pick<Agent, 'number'>): number
  /** The result of the checks until now; undefined if there was none. */
  healthOf(agent: Pick<Agent, 'number'>): Health | undefined
  /** Checks agents that are due; a replica that may not check reads what the other one has found out. */
  run(signal: AbortSignal): Promise<void>
}

export interface LivenessOptions {
  readonly catalog: Pick<Catalog, 'byNumber' | 'get' | 'review'>
  readonly check: CheckEndpoint
  readonly queue: CheckQueue
  readonly results: SharedResults
  readonly intervalMs: number
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/** Agents that are checked at once. */
const BATCH = 32
/** A new agent is checked when it has had a minute to start. */
const FIRST_CHECK_MS = 60_000

interface Watched {
  /** Tells the endpoints that were checked from those of a changed document. */
  readonly place: string
  readonly urls: readonly URL[]
  health?: Health
  /** What `verification` shows. */
  shown?: { readonly health: Health; readonly checkedAt: number }
}

export function createLiveness(options: LivenessOptions): Liveness {
  const { catalog, queue, results, intervalMs, now, random } = options
  const checkAgents = createCheckAgents(options.check)
  const watched = new Map<number, Watched>()

  /** Takes over a result; true if that changes what is shown. */
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
    if (result === 'unknown') return queue.add(number, intervalMs)
    const before = entry.health
    const health = afterHealthCheck(before, result, now())
    const isNews = adopt(entry, health)
    queue.add(number, nextHealthCheck(health, intervalMs, random()))
    if (isNews || before?.failures !== health.failures)
      await results.save(agent.record.id, { place: entry.place, ...health })
    if (isNews) catalog.review(number)
  }

  const adoptNews = async (): Promise<void> => {
    for (const id of await results.news()) {
      const number = catalog.get(id)?.number ?? 0
      const entry = watched.get(number)
      const health = entry && healthOf(results.of(id), entry.place)
      if (entry && health && adopt(entry, health)) catalog.review(number)
    }
  }

  /** The entry of an agent, created when the agent is seen first; undefined if it cannot be checked. */
  const entryOf = ({ number, record }: Agent): Watched | undefined => {
    const urls = checkedUrls(record)
    if (urls.length === 0) return undefined
    const place = hash('sha256', JSON.stringify(urls.map(({ href }) => href)), 'base64url').slice(0, 16)
    const known = watched.get(number)
    if (known?.place === place) return known
    const entry: Watched = { place, urls }
    const health = healthOf(results.of(record.id), place)
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
      if (entry) queue.add(number, when === 'later' ? intervalMs * random() : Math.min(FIRST_CHECK_MS, intervalMs))
      catalog.review(number)
    },
    removed: (number) => void watched.delete(number),
    findings({ number }) {
      const shown = watched.get(number)?.shown
      return shown ? { health: showHealth(shown.health, shown.checkedAt) } : {}
    },
    factorOf: ({ number }) => availabilityOf(watched.get(number)?.shown?.health),
    healthOf: ({ number }) => watched.get(number)?.health,
    async run(signal) {
      const due = await queue.take(BATCH)
      if (!due) return adoptNews()
      const agents = due.flatMap((number) => {
        const urls = watched.get(number)?.urls
        return urls ? [{ item: number, urls }] : []
      })
      await checkAgents(agents, onResult, signal)
    },
  }
}

/** A stored result, unless it is about other endpoints. */
function healthOf(stored: JsonObject | undefined, place: string): Health | undefined {
  if (!stored || stored.place !== place) return undefined
  const { state, since, checkedAt, failures, failingSince, reason } = stored
  return {
    state: state === 'unreachable' ? 'unreachable' : 'reachable',
    since: Number(since),
    checkedAt: Number(checkedAt),
    failures: Number(failures),
    ...(failingSince !== undefined && { failingSince: Number(failingSince) }),
    ...((reason === 'down' || reason === 'silent') && { reason }),
  }
}
