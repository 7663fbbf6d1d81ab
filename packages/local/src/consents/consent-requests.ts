import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'
import { covers, matches, type Permission, type PermissionFilter } from './consent.js'

/** A permission that a page requests, as shown to the user. */
export interface ConsentRequest extends Permission {
  /** The agent's own description, to help the user decide; not verified. */
  readonly description: string
}

/**
 * Asks the user; true if they consent. The signal aborts when the answer is no longer needed: it was given elsewhere,
 * or the page has left.
 */
export type AskForConsent = (request: ConsentRequest, signal: AbortSignal) => Promise<boolean>

export interface ConsentRequestsDeps {
  readonly ask: AskForConsent
  readonly monotonic: () => number
  /** Called when the user refuses, or does not answer in time. */
  readonly onRefusal?: (request: ConsentRequest) => void
}

/** The requests that are waiting for the user. */
export interface ConsentRequests {
  list(): readonly ConsentRequest[]
  /** The user's decision. False also if they do not answer in time, or have recently refused this origin. */
  submit(request: ConsentRequest, signal: AbortSignal): Promise<boolean>
  /** Accepts the open requests that this consent covers, and ends the origin's waiting time after a refusal. */
  allow(consent: Permission): void
  /** Refuses all requests that match; returns how many. */
  refuse(filter: PermissionFilter): number
}

interface PendingRequest {
  readonly request: ConsentRequest
  readonly decision: Promise<boolean>
  readonly decide: (isAllowed: boolean) => void
  readonly withdraw: () => void
  /** Connected pages that made this request; it is withdrawn when the last one leaves. */
  waiters: number
}

export function createConsentRequests({ ask, monotonic, onRefusal }: ConsentRequestsDeps): ConsentRequests {
  /** By origin. */
  const pending = new Map<string, PendingRequest>()
  /** By origin: until when its requests are refused without asking. */
  const mutedUntil = new Map<string, number>()

  const start = (request: ConsentRequest): PendingRequest => {
    let resolve: (isAllowed: boolean) => void = () => {}
    const decision = new Promise<boolean>((done) => {
      resolve = done
    })
    const ended = new AbortController()
    const settle = (isAllowed: boolean, muteMs: number): void => {
      pending.delete(request.origin)
      ended.abort()
      clearTimeout(timer)
      if (!isAllowed) mute(request.origin, muteMs)
      resolve(isAllowed)
    }
    const isOpen = (): boolean => pending.get(request.origin) === entry
    const decide = (isAllowed: boolean): void => {
      if (!isOpen()) return
      settle(isAllowed, LIMITS.refusalMs)
      if (!isAllowed) onRefusal?.(request)
    }
    const withdraw = (): void => {
      // Brief, since people reload pages; long enough that a page cannot flood the terminal.
      if (isOpen()) settle(false, LIMITS.leavingMs)
    }
    const entry: PendingRequest = { request, decision, decide, withdraw, waiters: 0 }
    pending.set(request.origin, entry)
    const timer = setTimeout(() => decide(false), LIMITS.consentMs)
    // If asking fails, the request stays open: the user can still answer over the socket.
    ask(request, ended.signal).then(decide, () => {})
    return entry
  }

  const mute = (origin: string, ms: number): void => {
    // Deleted first, so that the map stays in order of time and the oldest entry is evicted.
    mutedUntil.delete(origin)
    mutedUntil.set(origin, monotonic() + ms)
    const [oldest] = mutedUntil.keys()
    if (mutedUntil.size > LIMITS.consents && oldest !== undefined) mutedUntil.delete(oldest)
  }

  return {
    list: () => Array.from(pending.values(), ({ request }) => request),
    async submit(request, signal) {
      if (monotonic() < (mutedUntil.get(request.origin) ?? Number.NEGATIVE_INFINITY)) return false
      const present = pending.get(request.origin)
      if (present && !matches(present.request, request)) {
        throw new LocalError(
          'rate_limited',
          'the user is already being asked about this origin: try again after the answer',
        )
      }
      if (!present && pending.size >= LIMITS.consentRequests) {
        throw new LocalError('rate_limited', 'the user is already being asked about too many origins: try again later')
      }
      const entry = present ?? start(request)
      entry.waiters++
      const leave = (): void => {
        entry.waiters--
        if (entry.waiters === 0) entry.withdraw()
      }
      signal.addEventListener('abort', leave, { once: true })
      try {
        return await entry.decision
      } finally {
        signal.removeEventListener('abort', leave)
      }
    },
    allow(consent) {
      mutedUntil.delete(consent.origin)
      for (const { request, decide } of [...pending.values()]) if (covers(consent, request)) decide(true)
    },
    refuse(filter) {
      const found = [...pending.values()].filter(({ request }) => matches(request, filter))
      for (const { decide } of found) decide(false)
      return found.length
    },
  }
}
