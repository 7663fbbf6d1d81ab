import { setTimeout as sleep } from 'node:timers/promises'
import { isStoreFailure, StoreError } from './store-error.js'

/** What is wrong with the store. */
export interface StoreFault {
  /** `unreachable`: nothing can be read or written; `read_only`: only writes fail, such as on a full disk. */
  readonly kind: 'unreachable' | 'read_only'
  /** Start of the first operation that failed, in milliseconds since 1970. */
  readonly since: number
  /** One line for the operator, without secrets. */
  readonly reason: string
}

/** Whether the store works. One fault is reported once, however many operations it affects. */
export interface StoreHealth {
  /** Undefined while the store works. */
  readonly fault: StoreFault | undefined
  /**
   * Runs an operation on the store. While the store is unreachable, rejects at once. If the operation fails, or takes
   * suspiciously long, the store is checked.
   */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Checks the store because an operation failed that `run` did not supervise. */
  failed(error: StoreError): void
  /** Throws if writes are known to fail. */
  assertWritable(): void
  /** Starts to supervise a store, once it is open; returns a function that ends it. */
  supervise(store: SupervisedStore): () => void
}

/** How a driver is checked. */
export interface SupervisedStore {
  /** Reads and writes a little on a new connection, within a short time; returns what does not work. */
  check(): Promise<Pick<StoreFault, 'kind' | 'reason'> | undefined>
  /** Ends the operations in progress: the store is unreachable, and they would wait in vain. */
  cut?(): void
}

export interface StoreHealthOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly random: () => number
  readonly onFault: (fault: StoreFault) => void
  readonly onRecovery: (fault: StoreFault) => void
  /** An operation failed, although the store works otherwise. The same reason is reported once a minute. */
  readonly onFailure: (reason: string) => void
}

/** Milliseconds after which the store is checked although an operation has not failed yet. */
const SUSPICIOUS_MS = 2000
/** Milliseconds between two checks of a store that does not work, without jitter; they double up to the longest. */
const CHECK_MS = { first: 100, longest: 2000 }
/** Milliseconds in which the same failed operation is reported once. */
const REPORT_MS = 60_000

export function createStoreHealth(options: StoreHealthOptions): StoreHealth {
  const { now, random, onFault, onRecovery, onFailure } = options
  let fault: StoreFault | undefined
  let supervised: SupervisedStore | undefined
  let isExamining = false
  /** When the next check is made, on the clock of `performance`. */
  let nextCheck = 0
  let reported = { reason: '', at: Number.NEGATIVE_INFINITY }

  const setFault = (found: StoreFault | undefined): void => {
    const before = fault
    fault = found
    if (found && !before) onFault(found)
    if (!found && before) onRecovery(before)
    if (found?.kind === 'unreachable' && before?.kind !== 'unreachable') supervised?.cut?.()
  }

  /** Checks the store until it works; the first check decides whether it is a fault at all. */
  const examine = async (since: number, failure: string | undefined): Promise<void> => {
    const store = supervised
    if (isExamining || !store) return
    isExamining = true
    for (let round = 0; ; round++) {
      const found = await store.check()
      if (supervised !== store) break
      if (!found && !fault && failure !== undefined) report(failure)
      setFault(found && { since: fault?.since ?? since, ...found })
      if (!found) break
      // Jitter, so that replicas do not all come back in the same moment.
      const pauseMs = Math.min(CHECK_MS.first * 2 ** round, CHECK_MS.longest) * (0.5 + random() / 2)
      nextCheck = performance.now() + pauseMs
      await sleep(pauseMs, undefined, { ref: false })
    }
    isExamining = false
  }

  const report = (reason: string): void => {
    if (reason === reported.reason && performance.now() - reported.at < REPORT_MS) return
    reported = { reason, at: performance.now() }
    onFailure(reason)
  }

  const refusal = ({ reason }: StoreFault): StoreError =>
    new StoreError('unavailable', reason, { retryAfterMs: Math.max(0, nextCheck - performance.now()) })

  return {
    get fault() {
      return fault
    },
    async run(work) {
      if (fault?.kind === 'unreachable') throw refusal(fault)
      const startedAt = now()
      const suspicion = setTimeout(() => void examine(startedAt, undefined), SUSPICIOUS_MS).unref()
      try {
        return await work()
      } catch (error) {
        if (isStoreFailure(error)) void examine(startedAt, error.message)
        throw error
      } finally {
        clearTimeout(suspicion)
      }
    },
    failed(error) {
      if (isStoreFailure(error)) void examine(now(), error.message)
    },
    assertWritable() {
      if (fault) throw refusal(fault)
    },
    supervise(store) {
      supervised = store
      return () => {
        if (supervised === store) supervised = undefined
      }
    },
  }
}
