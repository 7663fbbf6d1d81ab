import type { AgentRecord, JsonObject } from '@switchboard/protocol'
import { GatewayError } from '../../gateway/gateway.js'
import { withTimeout } from '../../gateway/resilience/with-timeout.js'
import type { Agent, Catalog, CatalogListener } from '../registry/catalog.js'
import type { CheckQueue } from '../trust/check-queue.js'
import type { SharedResults } from '../trust/shared-results.js'
import { createLearnedBytes } from './learned-bytes.js'
import { fromValue, isSameList, type Kept, keepOperations, placeOf, type Stored, toValue } from './learned-value.js'
import { type OperationSource, operationSource } from './operation-source.js'
import { createReadInTurn } from './read-in-turn.js'
import type { ReadOperations } from './read-operations.js'

/**
 * Reads what agents list themselves: tools, skills, operations. The lists are kept apart from the documents; the catalog
 * joins both. They are read without any credential: an agent that requires one keeps what its publisher says.
 */
export interface Learner extends Required<Pick<CatalogListener, 'changed' | 'removed' | 'learned'>> {
  /** Reads the list of an agent again, because a call has seen another one. */
  outdated(id: string): void
  /** Starts to read what is due; a replica that may not read takes over what the other one has read. */
  run(signal: AbortSignal): Promise<void>
}

export interface LearnerOptions {
  readonly catalog: Pick<Catalog, 'byNumber' | 'get' | 'review'>
  readonly read: ReadOperations
  readonly queue: CheckQueue
  readonly results: SharedResults
  /** Bytes that the lists of all agents of an owner may take in memory. */
  readonly bytesOf: (owner: string) => number
  readonly intervalMs: number
  readonly now: () => number
  readonly monotonic: () => number
  /** From 0 to 1. */
  readonly random: () => number
  readonly onError: (error: unknown) => void
}

/** Milliseconds; for all requests that one list takes. */
const TIMEOUT_MS = 10_000
/** A new or changed agent is read almost at once, but not each time if it changes all the time. */
const FIRST_MS = 250
const MIN_PAUSE_MS = 5000
/** After a start, agents without a list are read within this time. */
const CATCH_UP_MS = 3_600_000
/** The pause after the first failure; it is four times as long after each of the next, up to the interval. */
const RETRY_MS = 60_000
/** A list that has not been confirmed for so long is dropped. */
const KEPT_MS = 7 * 86_400_000
/** An unchanged list is stored again after this time, so that it is known to be confirmed. */
const CONFIRM_MS = 86_400_000
/** Agents that are looked at in one run. */
const BATCH = 200
/** Lists that agents with the same endpoint share for a moment. */
const MAX_SHARED = 64

interface Watched {
  readonly published: AgentRecord
  readonly source: OperationSource
  readonly place: string
  failures: number
  /** Times of the monotonic clock: when it is to be read next, since when, and when it was last read. */
  due: number
  wantedAt: number
  readAt: number
}

export function createLearner(options: LearnerOptions): Learner {
  const { catalog, queue, results, intervalMs, now, monotonic, random, onError } = options
  const watched = new Map<number, Watched>()
  /** Lists in use, so that a list which is confirmed stays the same object. */
  const inUse = new Map<number, Pick<Stored, 'place' | 'learned'> & { readonly value: JsonObject }>()
  const shared = new Map<string, { readonly startedAt: number; readonly kept: Promise<Kept> }>()
  const bytes = createLearnedBytes()
  const readInTurn = createReadInTurn(onError)

  const schedule = (number: number, entry: Watched, inMs: number): void => {
    entry.due = monotonic() + inMs
    entry.wantedAt = entry.due
    queue.add(number, inMs)
  }

  /** Agents with the same endpoint share a request that began after each of them wanted it. */
  const readShared = ({ source, place, wantedAt }: Watched, signal: AbortSignal): Promise<Kept> => {
    const known = shared.get(place)
    if (known && known.startedAt >= wantedAt) return known.kept
    const kept = withTimeout(TIMEOUT_MS, async (timeout) =>
      keepOperations(await options.read(source, {}, AbortSignal.any([timeout, signal]))),
    )
    shared.delete(place)
    shared.set(place, { startedAt: monotonic(), kept })
    const [oldest] = shared.keys()
    if (shared.size > MAX_SHARED && oldest !== undefined) shared.delete(oldest)
    return kept
  }

  const readAgent = async (number: number, signal: AbortSignal): Promise<void> => {
    const entry = watched.get(number)
    if (!entry || signal.aborted) return
    const result = await readShared(entry, signal).catch((error: unknown) => {
      if (!(error instanceof GatewayError) && !signal.aborted) onError(error)
      return undefined
    })
    const agent = catalog.byNumber(number)
    // The document has changed in the meantime, and will be read again.
    if (signal.aborted || !agent || watched.get(number) !== entry) return
    entry.readAt = monotonic()
    if (result) {
      entry.failures = 0
      schedule(number, entry, intervalMs * (0.9 + 0.2 * random()))
      await save(agent, entry, result)
    } else {
      schedule(number, entry, Math.min(RETRY_MS * 4 ** entry.failures++, intervalMs) * (1 + 0.2 * random()))
      await dropOld(agent)
    }
  }

  const save = async (agent: Agent, { source, place }: Watched, kept: Kept): Promise<void> => {
    const { number, owner, record } = agent
    const before = storedOf(agent)
    const isSame = before?.place === place && isSameList(before.learned, kept)
    if (isSame && now() - before.readAt < CONFIRM_MS) return
    const learned = isSame ? before.learned : { source: source.kind, at: now(), ...kept }
    if (!isSame && bytes.with(agent, learned) > options.bytesOf(owner)) return
    await results.save(record.id, toValue({ number, place, readAt: now(), learned }))
    catalog.review(number)
  }

  const dropOld = async (agent: Agent): Promise<void> => {
    const before = storedOf(agent)
    if (!before || now() - before.readAt < Math.max(KEPT_MS, 4 * intervalMs)) return
    await results.save(agent.record.id, { number: agent.number })
    catalog.review(agent.number)
  }

  const storedOf = ({ number, record }: Agent): Stored | undefined => fromValue(results.of(record.id), { number })

  const forget = (number: number): void => {
    watched.delete(number)
    inUse.delete(number)
  }

  return {
    learned({ id, number, marks }, published) {
      const value = results.of(id)
      const source = value && !marks.origin ? operationSource(published) : undefined
      const known = inUse.get(number)
      const place = source && placeOf(source)
      const stored = known?.value === value ? known : source && fromValue(value, { number })
      if (!value || !stored || stored.place !== place) {
        inUse.delete(number)
        return undefined
      }
      const isConfirmed = known?.place === place && known.learned.at === stored.learned.at
      const learned = isConfirmed ? known.learned : stored.learned
      inUse.set(number, { place, learned, value })
      return learned
    },
    changed(agent, when) {
      const { number, published, stored } = agent
      bytes.count(agent)
      const known = watched.get(number)
      if (known?.published === published) return
      // Copies are read where they are registered.
      const source = stored.marks.origin ? undefined : operationSource(published)
      if (!source) return forget(number)
      const readAt = known?.readAt ?? Number.NEGATIVE_INFINITY
      const entry = { published, source, place: placeOf(source), failures: 0, due: 0, wantedAt: 0, readAt }
      watched.set(number, entry)
      // After a start, the requests are spread.
      if (when === 'later')
        schedule(number, entry, random() * (inUse.has(number) ? intervalMs : Math.min(CATCH_UP_MS, intervalMs)))
      else schedule(number, entry, Math.max(FIRST_MS, readAt + MIN_PAUSE_MS - monotonic()))
    },
    removed(number, agent) {
      forget(number)
      bytes.remove(agent)
    },
    outdated(id) {
      const number = catalog.get(id)?.number ?? 0
      const entry = watched.get(number)
      if (entry && monotonic() - entry.readAt > RETRY_MS && entry.due > monotonic() + FIRST_MS)
        schedule(number, entry, FIRST_MS)
    },
    async run(signal) {
      const due = await queue.take(BATCH)
      if (!due) {
        for (const id of await results.news()) catalog.review(catalog.get(id)?.number ?? 0)
        return
      }
      for (const number of due) {
        const entry = watched.get(number)
        const agent = catalog.byNumber(number)
        // An earlier time that no longer holds.
        if (!entry || !agent || entry.due > monotonic()) continue
        const { owner } = agent
        const { host } = new URL(entry.source.url)
        if (!readInTurn({ owner, host, read: () => readAgent(number, signal) })) schedule(number, entry, RETRY_MS)
        else entry.due = Number.POSITIVE_INFINITY
      }
    },
  }
}
