import { type DocumentFormat, detectFormat, isSigned, type JsonObject, sameJson } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import type { DirectoryClient } from './create-client.js'
import type { Registration } from './register.js'

/** A registration is renewed after this share of its lifetime, plus a random one, so that agents do not renew together. */
const EARLIEST_RENEWAL = 0.5
const RENEWAL_SPREAD = 0.3
/** Milliseconds before the first retry, doubled for each further one, and the longest wait. */
const FIRST_RETRY_MS = 1000
const MAX_RETRY_MS = 60_000
/** Milliseconds to remove the agent at the end. */
const REMOVE_TIMEOUT_MS = 5000
/** Seconds. */
const DEFAULT_LIFETIME = 3600

/** Clocks, timer and randomness; tests replace them. */
export interface RegistrationRuntime {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a clock that is never set: it decides when to renew. */
  readonly monotonic: () => number
  /** From 0 to 1. */
  readonly random: () => number
  /** Resolves after this many milliseconds, or when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface KeepRegisteredOptions {
  /** The document to register. A function is called for each renewal, so that the directory gets the current one. */
  readonly document: JsonObject | (() => JsonObject)
  /** The agent's id, if the document states none or another one is wanted. */
  readonly id?: string
  /** The draft of the document; default: detected from its members. */
  readonly format?: DocumentFormat
  /** Seconds after which the directory drops the agent unless it is renewed; default: 3600. */
  readonly lifetime?: number
  /** Ends the registration, like `close()`; before the first success, the promise is rejected. */
  readonly signal?: AbortSignal
  /** Called after the first registration, and whenever the directory had dropped the agent. */
  readonly onRegistered?: (registration: Registration) => void
  /** Called for each failure that will be retried, and if the agent cannot be removed at the end. */
  readonly onError?: (error: unknown) => void
  readonly runtime?: Partial<RegistrationRuntime>
}

/** A registration that is kept alive until it is closed. */
export interface KeptRegistration {
  readonly id: string
  /** Milliseconds since 1970 at which the directory drops the agent unless it is renewed. */
  readonly expiresAt: number
  /** Sends a changed document now instead of at the next renewal. */
  changed(): void
  /** Stops renewing and removes the agent from the directory. */
  close(): Promise<void>
  /** Resolves when the registration has been closed. */
  readonly closed: Promise<void>
}

/**
 * Registers an agent and keeps it registered: renews in time, registers again if the directory has dropped it, and
 * retries with back-off. Resolves after the first registration, which is retried while the directory is down. Rejects
 * if the directory rejects the registration.
 *
 * @example
 * const registration = await keepRegistered(directory, { document, lifetime: 600, onError: console.warn })
 * process.once('SIGTERM', () => registration.close())
 */
export async function keepRegistered(
  client: Pick<DirectoryClient, 'register' | 'refresh' | 'remove'>,
  options: KeepRegisteredOptions,
): Promise<KeptRegistration> {
  const { id, lifetime = DEFAULT_LIFETIME, onRegistered, onError } = options
  const { now, monotonic, random, sleep } = { ...SYSTEM, ...options.runtime }
  const closing = new AbortController()
  const signal = options.signal ? AbortSignal.any([closing.signal, options.signal]) : closing.signal
  const documentNow = (): JsonObject => (typeof options.document === 'function' ? options.document() : options.document)
  const format = options.format ?? detectFormat(documentNow())
  /** A registration of the Agent Directory has its own lifetime; other documents state when they expire. */
  const isLease = format === 'directory'

  let wake = (): void => {}
  const wait = async (ms: number): Promise<void> => {
    const sleeping = new AbortController()
    wake = () => sleeping.abort()
    await sleep(Math.max(0, ms), AbortSignal.any([signal, sleeping.signal]))
  }
  const backoff = (failures: number, error: unknown): number => {
    const wanted = FIRST_RETRY_MS * 2 ** (failures - 1) * (0.5 + random() / 2)
    const retryAfter = error instanceof ClientError ? (error.retryAfter ?? 0) * 1000 : 0
    return Math.min(Math.max(wanted, retryAfter), MAX_RETRY_MS)
  }

  /** The directory may count from any time between request and response; the earliest is safe. */
  const startTerm = () => {
    const [at, startedAt] = [now(), monotonic()]
    const term = (registration: Registration): Pick<Registered, 'expiresAt' | 'deadline'> => {
      const ms = (registration.lifetime ?? lifetime) * 1000
      return { expiresAt: at + ms, deadline: startedAt + ms }
    }
    return { at, term }
  }

  const register = async (): Promise<Registered> => {
    const document = documentNow()
    const start = startTerm()
    const registration = await client.register(isLease ? document : withExpiry(document, start.at, lifetime), {
      signal,
      ...(id !== undefined && { id }),
      ...(format && { format }),
      ...(isLease && { lifetime }),
    })
    return { registration, document, ...start.term(registration) }
  }
  const registerAnew = async (): Promise<Registered> => {
    const registered = await register()
    onRegistered?.(registered.registration)
    return registered
  }
  const renew = async (registered: Registered): Promise<Registered> => {
    if (!isLease) return register()
    const { registration } = registered
    const document = documentNow()
    const start = startTerm()
    try {
      const isChanged = !sameJson(document, registered.document)
      await client.refresh(registration, { lifetime, signal, ...(isChanged && { changes: document }) })
    } catch (error) {
      if (isGone(error)) return registerAnew()
      throw error
    }
    return { registration, document, ...start.term(registration) }
  }

  const registerFirst = async (): Promise<Registered> => {
    for (let failures = 1; ; failures++) {
      try {
        return await registerAnew()
      } catch (error) {
        if (!isTransient(error)) throw error
        onError?.(error)
        await wait(backoff(failures, error))
        if (signal.aborted) throw new ClientError('aborted', 'the registration was cancelled', { cause: error })
      }
    }
  }
  let current = await registerFirst()

  const keep = async (): Promise<void> => {
    let failures = 0
    let failure: unknown
    while (!signal.aborted) {
      const share = EARLIEST_RENEWAL + RENEWAL_SPREAD * random()
      if (failures > 0) await wait(backoff(failures, failure))
      else if (sameJson(current.document, documentNow())) await wait((current.deadline - monotonic()) * share)
      if (signal.aborted) return
      try {
        current = await renew(current)
        failures = 0
      } catch (error) {
        failures++
        failure = error
        if (!signal.aborted) onError?.(error)
      }
    }
  }
  const remove = async (): Promise<void> => {
    const { registration } = current
    try {
      await client.remove(isLease ? registration : registration.id, { signal: AbortSignal.timeout(REMOVE_TIMEOUT_MS) })
    } catch (error) {
      if (!isGone(error)) onError?.(error)
    }
  }

  const closed = keep().then(remove)
  return {
    id: current.registration.id,
    get expiresAt() {
      return current.expiresAt
    },
    changed: () => wake(),
    close() {
      closing.abort()
      return closed
    },
    closed,
  }
}

/** The state of a registration after its last renewal. */
interface Registered {
  readonly registration: Registration
  /** As the directory has it. */
  readonly document: JsonObject
  /** When the directory drops it: since 1970, and by the monotonic clock. */
  readonly expiresAt: number
  readonly deadline: number
}

const SYSTEM: RegistrationRuntime = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      signal.addEventListener('abort', end)
    }),
}

/** States when the agent expires unless it is renewed. A signed document is not changed. */
function withExpiry(document: JsonObject, now: number, lifetime: number): JsonObject {
  if (isSigned(document)) return document
  const timestamp = (ms: number): string => new Date(ms).toISOString()
  return { ...document, updated_at: timestamp(now), expires_at: timestamp(now + lifetime * 1000) }
}

const isGone = (error: unknown): boolean => error instanceof ClientError && error.status === 404

/** The directory is down or overloaded, and may accept the same request later. */
const isTransient = (error: unknown): boolean =>
  error instanceof ClientError &&
  (['unreachable', 'timeout', 'unavailable', 'rate_limited'].includes(error.code) || (error.status ?? 0) >= 500)
